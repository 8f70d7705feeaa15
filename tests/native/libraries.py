"""Facts about a shared library for any platform, read by LIEF."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

MEMORY = {"memset", "memcpy", "memmove"}
ALLOWED_IMPORTS = {*MEMORY, "bzero", "__bzero", "memset_pattern16", "dyld_stub_binder"}
LINKER_MADE = {"", "__dso_handle", "_mh_dylib_header"}


class Library(NamedTuple):
    """The facts of one library file."""

    exports: set[str]
    imports: set[str]  # symbols that other libraries must provide
    needs: set[str]  # other libraries


def facts(path: str | Path) -> tuple[Any, Library]:
    """Return what LIEF read, and the symbols without the underscore that macOS adds."""
    import lief  # which is slow: each process that runs tests reads this module

    binary: Any = lief.parse(str(path))
    prefix = "_" if isinstance(binary, lief.MachO.Binary) else ""
    names = binary.exported_functions, binary.imported_functions
    if not isinstance(binary, lief.PE.Binary):
        names = binary.exported_symbols, binary.imported_symbols
    exports, imports = (
        {str(symbol.name).removeprefix(prefix) for symbol in each} - LINKER_MADE for each in names
    )
    needs = binary.libraries
    if isinstance(binary, lief.MachO.Binary):  # lists itself, too
        loads = lief.MachO.LoadCommand.TYPE.LOAD_DYLIB
        needs = [each.name for each in binary.libraries if each.command == loads]
    return binary, Library(exports, imports, {str(each) for each in needs})
