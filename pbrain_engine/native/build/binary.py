"""What a shared library says about itself: machine, exports, imports, needed libraries.

LIEF reads ELF, PE and Mach-O files; side modules of WebAssembly, which it does not know, are read
here. So a library for another platform can be inspected where it was built.
"""

from __future__ import annotations

from dataclasses import dataclass

import lief

MACHINES = {
    lief.Header.ARCHITECTURES.X86_64: "x86_64",
    lief.Header.ARCHITECTURES.ARM64: "aarch64",
}  # fmt: skip
_LINKER_MADE = {"__dso_handle", "_mh_dylib_header"}  # in every library for macOS

lief.logging.disable()  # what it dislikes in a file that it cannot read


class BinaryError(ValueError):
    """The file is none of the known formats, or is broken."""


@dataclass(frozen=True)
class Binary:
    """The facts of one library file."""

    format: str  # elf, pe, macho or wasm
    machine: str
    exports: frozenset[str]
    imports: frozenset[str]  # symbols that others have to provide
    libraries: tuple[str, ...]  # others that have to be loaded


def inspect(data: bytes) -> Binary:
    """Return what a library file says about itself.

    Raises:
        BinaryError: it is no library that we know.
    """
    if data.startswith(b"\0asm"):
        try:
            return _read_wasm(data)
        except (IndexError, ValueError) as error:
            raise BinaryError(f"broken header: {error!r}") from error
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
            raise BinaryError("neither ELF nor PE nor Mach-O nor WebAssembly")
    machine = MACHINES.get(library.abstract.header.architecture)
    if machine is None:
        raise BinaryError("for a machine that the kernel does not run on")
    return Binary(
        library.format.name.lower(), machine, frozenset(exports), frozenset(imports), (*libraries,)
    )


# WebAssembly -------------------------------------------------------------------------

_CUSTOM, _IMPORTS, _EXPORTS = 0, 2, 7
_NEEDED = 2  # the part of the section "dylink.0" that names other libraries
# What every side module takes from its loader, and what the loader finds in it.
_WASM_SURROUNDINGS = {
    "memory", "__indirect_function_table", "__stack_pointer", "__memory_base", "__table_base",
}  # fmt: skip
_WASM_START = {"__wasm_call_ctors", "__wasm_apply_data_relocs"}


class _Words:
    """Reads the numbers and names of a WebAssembly file one after the other."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def number(self) -> int:
        """Return the next number, which is written in LEB128."""
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def part(self) -> bytes:
        """Return the bytes that a length stands in front of."""
        length = self.number()
        start, self.place = self.place, self.place + length
        if self.place > len(self.data):
            raise BinaryError("its end is missing")
        return self.data[start : self.place]

    def name(self) -> str:
        """Return the next name."""
        return self.part().decode()

    def skip_import(self) -> None:
        """Pass over the type of an import: a function, a table, a memory or a global."""
        kind = self.number()
        if kind in (1, 3):
            self.place += 1  # what is in it
        if kind == 3:
            self.place += 1  # whether it changes
        else:
            has_most = kind and self.number() & 1
            for _ in range(1 + has_most):
                self.number()


def _read_wasm(data: bytes) -> Binary:
    exports: set[str] = set()
    imports: set[str] = set()
    libraries: list[str] = []
    file = _Words(data, 8)
    while file.place < len(data):
        kind, words = file.number(), _Words(file.part())
        if kind == _CUSTOM and words.name() == "dylink.0":
            while words.place < len(words.data):
                is_needed, part = words.number() == _NEEDED, _Words(words.part())
                libraries += [part.name() for _ in range(part.number())] if is_needed else []
        elif kind == _IMPORTS:
            for _ in range(words.number()):
                words.name()
                imports.add(words.name())
                words.skip_import()
        elif kind == _EXPORTS:
            for _ in range(words.number()):
                exports.add(words.name())
                words.number()  # what it is
                words.number()  # and its place
    return Binary(
        "wasm",
        "wasm32",
        frozenset(exports - _WASM_START),
        frozenset(imports - _WASM_SURROUNDINGS),
        tuple(libraries),
    )
