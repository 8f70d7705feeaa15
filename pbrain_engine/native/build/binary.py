"""What a shared library says about itself: machine, exports, imports, needed libraries.

LIEF reads ELF, PE and Mach-O files; side modules of WebAssembly, which it does not know, are read
here. So a library for another platform can be inspected where it was built.
"""

from __future__ import annotations

from typing import NamedTuple

import lief

from ...errors import BuildError

MACHINES = {
    lief.Header.ARCHITECTURES.X86_64: "x86_64",
    lief.Header.ARCHITECTURES.ARM64: "aarch64",
}  # fmt: skip
_LINKER_MADE = {"__dso_handle", "_mh_dylib_header"}  # in every library for macOS

lief.logging.disable()  # what it dislikes in a file that it cannot read


class Binary(NamedTuple):
    """The facts of one library file."""

    format: str  # elf, pe, macho or wasm
    machine: str
    exports: set[str]
    imports: set[str]  # symbols that others have to provide
    libraries: tuple[str, ...]  # others that have to be loaded


def inspect(data: bytes) -> Binary:
    """Return what a library file says about itself.

    Raises:
        BuildError: it is no library that we know.
    """
    if data.startswith(b"\0asm"):
        try:
            return _read_wasm(data)
        except (IndexError, ValueError) as error:
            raise BuildError(f"broken header: {error!r}") from error
    library = lief.parse(data)
    match library:
        case lief.ELF.Binary():
            symbols = {str(symbol.name): symbol.shndx != 0 for symbol in library.dynamic_symbols}
            symbols.pop("", None)
            exports = {name for name, is_here in symbols.items() if is_here}
            imports, libraries = symbols.keys() - exports, map(str, library.libraries)
        case lief.PE.Binary():
            exports = {str(function.name) for function in library.exported_functions}
            imports = {str(function.name) for function in library.imported_functions}
            libraries = map(str, library.libraries)
        case lief.MachO.Binary():
            exports = {str(s.name).removeprefix("_") for s in library.exported_symbols}
            exports -= _LINKER_MADE
            imports = {str(s.name).removeprefix("_") for s in library.imported_symbols}
            loaded = lief.MachO.LoadCommand.TYPE.LOAD_DYLIB
            libraries = map(str, (o.name for o in library.libraries if o.command == loaded))
        case _:
            raise BuildError("neither ELF nor PE nor Mach-O nor WebAssembly")
    machine = MACHINES.get(library.abstract.header.architecture)
    if machine is None:
        raise BuildError("for a machine that the kernel does not run on")
    return Binary(library.format.name.lower(), machine, exports, imports, (*libraries,))


# WebAssembly -------------------------------------------------------------------------

_IMPORTS, _EXPORTS = 2, 7
_TYPE_LENGTHS = (1, 3, 2, 2)  # numbers of an imported function, table, memory or global
_LIMITED = (1, 2)  # of which a table or a memory may have one more
# What every side module takes from its loader, and what the loader finds in it.
_WASM_SURROUNDINGS = {
    "memory", "__indirect_function_table", "__stack_pointer", "__memory_base", "__table_base",
}  # fmt: skip
_WASM_START = {"__wasm_call_ctors", "__wasm_apply_data_relocs"}


def _read_wasm(data: bytes) -> Binary:
    exports, imports = set(), set()
    place = 8

    def number() -> int:  # in LEB128
        nonlocal place
        place += 1
        low = data[place - 1]
        return low if low < 128 else low - 128 + (number() << 7)

    def name() -> str:
        nonlocal place
        length = number()
        place += length
        return data[place - length : place].decode()

    while place < len(data):
        kind, length = number(), number()
        end = place + length
        if end > len(data):
            raise BuildError("its end is missing")
        if kind == _IMPORTS:
            for _ in range(number()):
                name()  # of the module that provides it
                imports.add(name())
                what = number()
                numbers = [number() for _ in range(_TYPE_LENGTHS[what])]
                if what in _LIMITED and numbers[-2] & 1:
                    number()
        elif kind == _EXPORTS:
            for _ in range(number()):
                exports.add(name())
                number()  # what it is
                number()  # and its place
        place = end
    return Binary("wasm", "wasm32", exports - _WASM_START, imports - _WASM_SURROUNDINGS, ())
