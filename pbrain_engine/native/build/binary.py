"""What a shared library says about itself: machine, exports, imports, needed libraries.

Reads the headers of ELF, PE and Mach-O files (64-bit, little-endian) and of side modules of
WebAssembly, so that a library for another platform can be inspected where it was built.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}
MACH_MACHINES = {0x0100_0007: "x86_64", 0x0100_000C: "aarch64"}


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
    readers = {b"\x7fELF": _read_elf, b"\xcf\xfa\xed\xfe": _read_macho, b"\0asm": _read_wasm}
    reader = _read_pe if data[:2] == b"MZ" else readers.get(data[:4])
    if reader is None:
        raise BinaryError("neither ELF nor PE nor Mach-O nor WebAssembly")
    try:
        return reader(data)
    except (struct.error, KeyError, IndexError, ValueError) as error:
        raise BinaryError(f"broken header: {error!r}") from error


def _text(data: bytes, offset: int) -> str:
    """Return the zero-terminated string at an offset."""
    return data[offset : data.index(b"\0", offset)].decode("ascii")


# ELF ---------------------------------------------------------------------------------

_SHT_DYNAMIC, _SHT_DYNSYM = 6, 11
_DT_NEEDED = 1
_SHN_UNDEF = 0


def _read_elf(data: bytes) -> Binary:
    machine = ELF_MACHINES[struct.unpack_from("<H", data, 18)[0]]
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    # kind, offset, length, link of each section header
    sections = [struct.unpack_from("<4xI16xQQI", data, table + i * size) for i in range(count)]
    exports: set[str] = set()
    imports: set[str] = set()
    libraries = []
    for kind, offset, length, link in sections:
        if kind == _SHT_DYNSYM:
            for entry in range(offset + 24, offset + length, 24):
                name, section = struct.unpack_from("<I2xH", data, entry)
                symbol = _text(data, sections[link][1] + name)
                (imports if section == _SHN_UNDEF else exports).add(symbol)
        elif kind == _SHT_DYNAMIC:
            for tag, value in struct.iter_unpack("<QQ", data[offset : offset + length]):
                if tag == _DT_NEEDED:
                    libraries.append(_text(data, sections[link][1] + value))
    return Binary("elf", machine, frozenset(exports), frozenset(imports), tuple(libraries))


# PE ----------------------------------------------------------------------------------

_EXPORT_DIRECTORY, _IMPORT_DIRECTORY = 0, 1


def _read_pe(data: bytes) -> Binary:
    (header,) = struct.unpack_from("<I", data, 60)
    if data[header : header + 4] != b"PE\0\0":
        raise BinaryError("MZ without PE")
    machine, count, optional_size = struct.unpack_from("<HH12xH", data, header + 4)
    optional = header + 24
    sections = [
        struct.unpack_from("<IIII", data, optional + optional_size + 40 * i + 8)
        for i in range(count)
    ]  # virtual size, virtual address, raw size, file offset

    def offset_of(address: int) -> int:
        for virtual_size, start, raw_size, offset in sections:
            if start <= address < start + max(virtual_size, raw_size):
                return int(address - start + offset)
        raise BinaryError(f"address {address:#x} lies in no section")

    def directory(number: int) -> int:
        (address,) = struct.unpack_from("<I", data, optional + 112 + 8 * number)
        return int(address)

    exports: set[str] = set()
    if directory(_EXPORT_DIRECTORY):
        count, names = struct.unpack_from("<24xI4xI", data, offset_of(directory(_EXPORT_DIRECTORY)))
        addresses = struct.unpack_from(f"<{count}I", data, offset_of(names))
        exports = {_text(data, offset_of(address)) for address in addresses}
    imports: set[str] = set()
    libraries = []
    if directory(_IMPORT_DIRECTORY):
        entry = offset_of(directory(_IMPORT_DIRECTORY))
        while any(data[entry : entry + 20]):
            lookup, name = struct.unpack_from("<I8xI", data, entry)
            libraries.append(_text(data, offset_of(name)))
            for address in _until_zero(data, offset_of(lookup)):
                if address >> 63 == 0:  # else imported by number
                    imports.add(_text(data, offset_of(address) + 2))
            entry += 20
    return Binary(
        "pe", PE_MACHINES[machine], frozenset(exports), frozenset(imports), tuple(libraries)
    )


def timeless(data: bytes) -> bytes:
    """Return a PE file without the moment at which it was linked."""
    (header,) = struct.unpack_from("<I", data, 60)
    moment = header + 8
    return data[:moment] + bytes(4) + data[moment + 4 :]


def _until_zero(data: bytes, offset: int) -> Iterator[int]:
    """Yield 8-byte numbers until a zero."""
    while (number := int(struct.unpack_from("<Q", data, offset)[0])) != 0:
        yield number
        offset += 8


# Mach-O ------------------------------------------------------------------------------

_LC_SYMTAB, _LC_LOAD_DYLIB = 0x02, 0x0C
_N_EXT, _N_TYPE, _N_UNDF = 0x01, 0x0E, 0x00
_LINKER_MADE = {"__dso_handle", "_mh_dylib_header"}  # in every library


def _read_macho(data: bytes) -> Binary:
    machine, count = struct.unpack_from("<4xI8xI", data)
    exports: set[str] = set()
    imports: set[str] = set()
    libraries = []
    offset = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, offset)
        if command == _LC_LOAD_DYLIB:
            (name,) = struct.unpack_from("<I", data, offset + 8)
            libraries.append(_text(data, offset + name))
        elif command == _LC_SYMTAB:
            symbols, number, strings = struct.unpack_from("<III", data, offset + 8)
            for entry in range(symbols, symbols + 16 * number, 16):
                name, kind = struct.unpack_from("<IB", data, entry)
                if kind & _N_EXT:
                    symbol = _text(data, strings + name).removeprefix("_")
                    (imports if kind & _N_TYPE == _N_UNDF else exports).add(symbol)
        offset += size
    exports -= _LINKER_MADE
    return Binary(
        "macho", MACH_MACHINES[machine], frozenset(exports), frozenset(imports), tuple(libraries)
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
