"""What the block of a network holds, and how it is packed in a weight file.

A block is little-endian, as every machine with a kernel is, without gaps: sixteen int32 (``Sizes``
and zeros), the arrays of ``shared_fields``, then those of ``head_fields`` once for both sides or
once for each.

What the network computes (``tests/oracle/network.py`` has the same in plain integers):

1. Pattern to vector. The four line windows of an empty cell, four cells to each side (five outside
   of freestyle), each have a code, and the code a vector of 64 small integers. Mirrored windows are
   one pattern: 7,381 in freestyle, 66,430 elsewhere, of which the 16,384 most frequent have their
   own codes. Where the rule is the same for both colours, half of a vector comes from the window
   with colours exchanged.
2. Cell. The sum of its four vectors, clamped to 0 and 4,095; 0 where no stone or border is near.
3. Trunk. Sums over nine regions (thirds of the board) go through a layer of 16 units that regions
   share, then with the sum over the board through 48 units, to which the threat mask adds a vector.
4. Value. 32 units and one output; the linear evaluation is added.
5. Policy. The trunk makes weights for this position: 64 for the channels of a cell, and a bias and
   a weight for 16 hidden units of a cell, which see it mixed with its eight neighbours. The linear
   move score and numbers for the distances from the last two stones are added.

All of it is the same under the eight symmetries of the board.

A file holds a zlib stream of it, which begins with the number of its form. In form 1 the arrays
follow as the kernel reads them, row after row. In form 2 each lies column after column, all low
bytes before all high ones: neighbours are similar there, and the stream gets a fifth shorter.

The engine reads its networks with this module, so it imports the standard library only.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from math import prod
from typing import NamedTuple

from ..errors import WeightsError

FORM = 1
COLUMNS = 2  # the form in which arrays lie by columns and planes of bytes
PATTERNS = {4: 7381, 5: 66430}  # by half: line windows that differ, mirrored ones counted once
THREAT_MASKS = 2048
NEAR_REACH = 7  # cells of a distance from a stone that is told from others
NEAR_CLASSES = 37  # such distances, by the longer and the shorter way; 0 is farther
SHIFTS = 16
BOOK_LIMIT = 8191  # four vectors together stay within int16
LAYER_LIMIT = 8191  # what comes out of a layer
FEATURE_LIMIT = 4095  # a cell's feature

# The sizes for which the kernel is compiled.
CHANNELS = 64
REGION_UNITS = 16  # numbers that the regions add to the channels
CELL_UNITS = 16  # between the features of a cell and its policy
TRUNK_UNITS = 48  # that value and policy share
VALUE_UNITS = 32  # between the trunk and the value

_HEAD, _FORM_HEAD = struct.Struct("<16i"), struct.Struct("<i")
HEAD_BYTES = _HEAD.size


class Sizes(NamedTuple):
    """The head of a block."""

    form: int
    half: int  # cells that a line window reaches to each side
    tied: int  # 1: the rule treats both colours the same, so they share vectors
    heads: int  # 1 for both sides, or 2: black's, white's
    patterns: int
    codes: int
    channels: int  # of a cell's feature
    region_units: int
    cell_units: int  # of the hidden layer that the policy has for a cell
    trunk_units: int
    value_units: int
    near: int

    def pack(self) -> bytes:
        """Return the bytes of the head."""
        return _HEAD.pack(*self, *[0] * (16 - len(self)))


class Field(NamedTuple):
    """An array of a block: its name, its kind of number (``array`` code) and its shape."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Its length in the file."""
        return prod(self.shape) * array(self.kind).itemsize


def shared_fields(sizes: Sizes) -> list[Field]:
    """Return the arrays that both sides share: from a pattern to its vector."""
    width = sizes.channels // 2 if sizes.tied else sizes.channels
    swap = [Field("swap", "H", (sizes.codes,))] if sizes.tied else []
    book = Field("book", "h", (sizes.codes, width))
    return [Field("codes", "H", (sizes.patterns,)), *swap, book]


def head_fields(sizes: Sizes) -> list[Field]:
    """Return the arrays of one head; weights are rows of outputs by columns of inputs."""
    channels, regions, cells = sizes.channels, sizes.region_units, sizes.cell_units
    trunk, values = sizes.trunk_units, sizes.value_units
    return [
        Field("shifts", "i", (SHIFTS,)),
        Field("region_weights", "h", (regions, channels)), Field("region_biases", "i", (regions,)),
        Field("trunk_weights", "h", (trunk, channels + regions)),
        Field("trunk_biases", "i", (trunk,)), Field("trunk_threats", "h", (THREAT_MASKS, trunk)),
        Field("value_weights", "h", (values, trunk)), Field("value_biases", "i", (values,)),
        Field("last_weights", "h", (values,)), Field("last_bias", "i", (1,)),
        Field("direct_weights", "h", (channels, trunk)), Field("direct_biases", "i", (channels,)),
        Field("shift_weights", "h", (cells, trunk)), Field("shift_biases", "i", (cells,)),
        Field("scale_weights", "h", (cells, trunk)), Field("scale_biases", "i", (cells,)),
        Field("neighbours", "h", (3, channels)), Field("cell_weights", "h", (cells, channels)),
        Field("near", "h", (2, sizes.near)),
    ]  # fmt: skip


def fields(sizes: Sizes) -> list[Field]:
    """Return all arrays in the order of the file; those of a second head come last."""
    return shared_fields(sizes) + sizes.heads * head_fields(sizes)


def sizes_of(raw: bytes) -> Sizes:
    """Return the sizes of a whole block; WeightsError if it is cut off or no network's."""
    if len(raw) < _HEAD.size:
        raise WeightsError(f"has {len(raw)} bytes only")
    head = _HEAD.unpack_from(raw)
    sizes = Sizes(*head[: len(Sizes._fields)])
    if sizes.form != FORM:
        raise WeightsError(f"is of form {sizes.form}, not {FORM}")
    known = (
        sizes.patterns == PATTERNS.get(sizes.half)
        and sizes.tied in (0, 1)
        and sizes.heads in (1, 2)
        and 0 < sizes.codes <= 1 << 16
        and sizes.channels % 2 == 0
        and all(0 < size <= 1024 for size in sizes[6:11])
        and sizes.near == NEAR_CLASSES
    )
    if not known:
        raise WeightsError("has sizes that no network has")
    length = _HEAD.size + sum(field.bytes for field in fields(sizes))
    if len(raw) != length:
        raise WeightsError(f"has {len(raw)} bytes, not {length}")
    return sizes


def check_stream(stream: bytes | memoryview, family: str) -> None:
    """Make sure, by the head of its block, that the kernel can use a stream for a rule family.

    Raises:
        zlib.error: it is no stream.
        WeightsError: its block is cut off, or of another form, rule or size.
    """
    head = zlib.decompressobj().decompress(stream, HEAD_BYTES)
    if head[: _FORM_HEAD.size] == _FORM_HEAD.pack(COLUMNS):
        head = _FORM_HEAD.pack(FORM) + head[_FORM_HEAD.size :]
    if len(head) < _HEAD.size:
        raise WeightsError("is cut off")
    sizes = Sizes(*_HEAD.unpack_from(head)[: len(Sizes._fields)])
    if sizes.form != FORM:
        raise WeightsError("is of another form")
    if sizes.half != (4 if family == "freestyle" else 5):
        raise WeightsError("is one of another rule")
    if sizes[6:] != (CHANNELS, REGION_UNITS, CELL_UNITS, TRUNK_UNITS, VALUE_UNITS, NEAR_CLASSES):
        raise WeightsError("has sizes that this version does not know")


def pack(block: bytes) -> bytes:
    """Return a block as a stream of form 2; one that is no block is packed as it is."""
    try:
        arrays = fields(sizes_of(block))
    except WeightsError:
        return zlib.compress(block, 9)
    parts = [_FORM_HEAD.pack(COLUMNS), block[_FORM_HEAD.size : HEAD_BYTES]]
    at = HEAD_BYTES
    for field in arrays:
        parts.append(_columns(field, block[at : at + field.bytes]))
        at += field.bytes
    return zlib.compress(b"".join(parts), 9)


def unpack(stream: bytes | memoryview) -> bytes:
    """Return the block of a stream of either form.

    Raises:
        zlib.error: it is no stream.
        WeightsError: it is by columns, and no block of any network.
    """
    raw = zlib.decompress(stream)
    if raw[: _FORM_HEAD.size] != _FORM_HEAD.pack(COLUMNS):
        return raw
    head = _FORM_HEAD.pack(FORM) + raw[_FORM_HEAD.size : HEAD_BYTES]
    parts = [head]
    at = HEAD_BYTES
    for field in fields(sizes_of(head + raw[HEAD_BYTES:])):
        parts.append(_rows(field, raw[at : at + field.bytes]))
        at += field.bytes
    return b"".join(parts)


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
