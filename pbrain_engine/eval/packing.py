"""How the block of a network is packed in a weight file.

A network is a zlib stream of its block (``network_block``), which begins with the number of its
form. In form 1 the arrays follow as the kernel reads them, row after row. In form 2 each lies
column after column, all low bytes before all high ones: neighbours are alike there, and the
stream gets a fifth shorter. ``pack`` writes form 2, ``unpack`` reads both.

The engine reads its networks with this module, so it imports the standard library only.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from math import prod

from .network_block import FORM, HEAD_BYTES, BlockError, Field, fault_of, fields, sizes_of

COLUMNS = 2  # the form in which arrays lie by columns and planes of bytes
_FORM = struct.Struct("<i")


def pack(block: bytes) -> bytes:
    """Return a block as a stream; one that is no block is packed as it is."""
    try:
        arrays = fields(sizes_of(block))
    except BlockError:
        return zlib.compress(block, 9)
    parts = [_FORM.pack(COLUMNS), block[_FORM.size : HEAD_BYTES]]
    at = HEAD_BYTES
    for field in arrays:
        parts.append(_columns(field, block[at : at + field.bytes]))
        at += field.bytes
    return zlib.compress(b"".join(parts), 9)


def unpack(stream: bytes | memoryview) -> bytes:
    """Return the block of a stream.

    Raises:
        zlib.error: it is no stream.
        BlockError: it is by columns, and no block of any network.
    """
    raw = zlib.decompress(stream)
    if raw[: _FORM.size] != _FORM.pack(COLUMNS):
        return raw
    head = _FORM.pack(FORM) + raw[_FORM.size : HEAD_BYTES]
    parts = [head]
    at = HEAD_BYTES
    for field in fields(sizes_of(head + raw[HEAD_BYTES:])):
        parts.append(_rows(field, raw[at : at + field.bytes]))
        at += field.bytes
    return b"".join(parts)


def fault_of_stream(stream: bytes | memoryview, family: str) -> int:
    """Return what the head of a stream's block tells against it, as ``fault_of`` does.

    Raises:
        zlib.error: it is no stream.
    """
    head = zlib.decompressobj().decompress(stream, HEAD_BYTES)
    if head[: _FORM.size] == _FORM.pack(COLUMNS):
        head = _FORM.pack(FORM) + head[_FORM.size :]
    return fault_of(head, family)


def _columns(field: Field, raw: bytes) -> bytes:
    """Return an array that lies by rows as columns, in planes of bytes."""
    numbers = array(field.kind, raw)
    columns = prod(field.shape[1:])
    turned = array(field.kind)
    for column in range(columns):
        turned += numbers[column::columns]
    width, data = turned.itemsize, turned.tobytes()
    return b"".join(data[place::width] for place in range(width))


def _rows(field: Field, raw: bytes) -> bytes:
    """Return an array that lies by columns, in planes of bytes, as rows."""
    data = bytearray(len(raw))
    rows = field.shape[0]
    width = len(raw) // prod(field.shape)
    plane = len(raw) // width
    for place in range(width):
        data[place::width] = raw[place * plane : (place + 1) * plane]
    numbers = array(field.kind, bytes(data))
    turned = array(field.kind, numbers)
    columns = plane // rows
    for column in range(columns):
        turned[column::columns] = numbers[column * rows : (column + 1) * rows]
    return turned.tobytes()
