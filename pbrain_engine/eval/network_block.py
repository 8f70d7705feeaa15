"""The network, the layout of its block, and the packing of blocks in weight files.

A block is little-endian, like every machine with a kernel, without gaps: sixteen int32 (``Sizes``
and zeros), the arrays of ``shared_fields``, then those of ``head_fields`` once for both sides or
once for each.

The network computes (``tests/oracle/network.py`` does the same with plain integers):

1. Pattern to vector. Each of the four line windows of an empty cell, four cells on each side (five
   outside of freestyle), has a code, and the code a vector of 64 small integers. Mirrored windows
   are one pattern: 7,381 in freestyle, 66,430 elsewhere, of which the 16,384 most frequent have
   their own codes. If the rule is the same for both colours, half of a vector comes from the window
   with colours exchanged.
2. Cell. The sum of its four vectors, clamped between 0 and 4,095; 0 if no stone or border is near.
3. Trunk. Sums over nine regions (thirds of the board) go through a layer of 16 units shared by the
   regions, then, with the sum over the board, through 48 units, to which the threat mask adds a
   vector.
4. Value. 32 units and one output; the linear evaluation is added.
5. Policy. The trunk computes weights for this position: 64 for the channels of a cell, and a bias
   and a weight for each of a cell's 16 hidden units, whose input is the cell mixed with its eight
   neighbours. The linear move score and terms for the distances from the last two stones are added.

The network is invariant under the eight symmetries of the board.

In a file, a block is a zlib stream that begins with the number of its form. In form 1 the arrays
are stored as the kernel reads them, row by row. In form 2 each is stored column by column, all low
bytes before all high ones: neighbours are more similar, and the stream is a fifth shorter.

The engine reads its networks with this module, so it imports only the standard library.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from math import prod
from typing import NamedTuple

from ..errors import WeightsError

FORM = 1
COLUMNS = 2  # the form with arrays stored by columns and byte planes
PATTERNS = {4: 7381, 5: 66430}  # by half: number of line windows up to mirroring
THREAT_MASKS = 2048
NEAR_REACH = 7  # greatest distance from a stone with a class of its own
NEAR_CLASSES = 37  # distance classes, by longer and shorter coordinate difference; 0 is farther
SHIFTS = 16
BOOK_LIMIT = 8191  # the sum of four vectors stays within int16
LAYER_LIMIT = 8191  # largest output of a layer
FEATURE_LIMIT = 4095  # largest feature of a cell

# The sizes for which the kernel is compiled.
CHANNELS = 64
REGION_UNITS = 16  # pooled over regions, in addition to the channels
CELL_UNITS = 16  # between the features of a cell and its policy
TRUNK_UNITS = 48  # shared by value and policy
VALUE_UNITS = 32  # between the trunk and the value

_HEAD, _FORM_HEAD = struct.Struct("<16i"), struct.Struct("<i")
HEAD_BYTES = _HEAD.size


class Sizes(NamedTuple):
    """The head of a block."""

    form: int
    half: int  # cells of a line window on each side
    tied: int  # 1: the rule treats both colours the same, so they share vectors
    heads: int  # 1 for both sides, or 2: black's, white's
    patterns: int
    codes: int
    channels: int  # of a cell's feature
    region_units: int
    cell_units: int  # of the policy's hidden layer for a cell
    trunk_units: int
    value_units: int
    near: int

    def pack(self) -> bytes:
        """Return the bytes of the head."""
        return _HEAD.pack(*self, *[0] * (16 - len(self)))


class Field(NamedTuple):
    """An array of a block: its name, its number type (``array`` code) and its shape."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The length in the file."""
        return prod(self.shape) * array(self.kind).itemsize


def shared_fields(sizes: Sizes) -> list[Field]:
    """Return the arrays shared by both sides: from patterns to vectors."""
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
    """Return all arrays in file order; those of a second head come last."""
    return shared_fields(sizes) + sizes.heads * head_fields(sizes)


def sizes_of(raw: bytes) -> Sizes:
    """Return the sizes of a complete block; WeightsError if it is cut off or not a network."""
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
    """Check, by the head of its block, that the kernel can use a stream for a rule family.

    Raises:
        zlib.error: the bytes are not a zlib stream.
        WeightsError: the block is cut off, or has another form, rule or size.
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
    """Return a block as a stream of form 2; invalid blocks are compressed unchanged."""
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
        zlib.error: the bytes are not a zlib stream.
        WeightsError: the stream has form 2 but is not a network.
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
    """Convert an array from rows to columns in byte planes."""
    numbers = array(field.kind, raw)
    columns = prod(field.shape[1:])
    turned = array(field.kind)
    for column in range(columns):
        turned += numbers[column::columns]
    width, data = turned.itemsize, turned.tobytes()
    return b"".join(data[place::width] for place in range(width))


def _rows(field: Field, raw: bytes) -> bytes:
    """Convert an array from columns in byte planes to rows."""
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
