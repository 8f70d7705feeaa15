"""What a shared library says about itself: machine, exports, imports, needed libraries.

Reads the headers of ELF, PE and Mach-O files (64-bit, little-endian), so that a library for
another platform can be inspected where it was built.
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

    format: str  # elf, pe or macho
    machine: str
    exports: frozenset[str]
    imports: frozenset[str]  # symbols that others have to provide
    libraries: tuple[str, ...]  # others that have to be loaded


def inspect(data: bytes) -> Binary:
    """Return what a library file says about itself.

    Raises:
        BinaryError: it is no library that we know.
    """
    readers = {b"\x7fELF": _read_elf, b"\xcf\xfa\xed\xfe": _read_macho}
    reader = _read_pe if data[:2] == b"MZ" else readers.get(data[:4])
    if reader is None:
        raise BinaryError("neither ELF nor PE nor Mach-O")
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
