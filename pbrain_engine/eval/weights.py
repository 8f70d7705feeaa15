"""Weight files: the learned or hand-set numbers of the evaluation, one block per rule family.

A file is a text header and a binary body. The header starts with the line ``numoku weights 1``,
has ``key: value`` lines (``id``, ``made``, provenance, ``scale FAMILY``), a line ``families: ...``
that names the blocks in order, ``crc32: ...`` of the body, and ends with an empty line. The body
contains each family's block of little-endian int16:

    values   2 x 2380      side, combination: what an empty cell with it adds for the side
    threats  2 x 2048      side to move, threat mask: value for that side
    scores   2 x 2 x 2380  side to move, own or enemy combination: ordering score of a move

A file with networks begins with ``numoku weights 2`` and has a line ``networks: family:bytes ...``
before the checksum. After the blocks comes each network as a zlib stream of that length
(``network_block.py``); a family not named has none. A network is trained on top of the linear
weights of its file, so both stay together.

``scale FAMILY``: units of a search value per logistic unit of the winning chance (``values.py``),
measured on the games that the weights were trained on.

The engine reads its weights with this module, so it avoids imports that are slow or need OpenSSL.
"""

from __future__ import annotations

import os
import zlib
from typing import NamedTuple

from ..errors import FileError, WeightsError
from ..files import read_whole
from ..position.rules import Rule
from .network_block import check_stream, pack, sizes_of, unpack

MAGIC = "numoku weights 1"
MAGIC_WITH_NETWORKS = "numoku weights 2"
MAGIC_START = "numoku weights "
FAMILIES = ("freestyle", "standard", "renju", "caro")
COMBINATIONS = 2380
MASKS = 2048
BUILT_IN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "weights")
DEFAULT = "network"  # name of the default built-in weights
SCALE = "scale"  # of a family: the key in the head
DEFAULT_SCALE = 258.0  # for files without one: as measured for freestyle
LEAST_SCALE, MOST_SCALE = 20.0, 5000.0  # plausible range
BLOCK_BYTES = 2 * (2 * COMBINATIONS + 2 * MASKS + 4 * COMBINATIONS)


class Weights(NamedTuple):
    """A weight file in memory: header, blocks by family, and compressed networks."""

    about: dict[str, str]
    blocks: dict[str, bytes]
    streams: dict[str, memoryview] = {}  # family -> its network, compressed

    @property
    def id(self) -> str:
        """The name by which benchmarks and records cite these weights."""
        return self.about["id"]

    @property
    def key(self) -> str:
        """A text unique to these weights."""
        return f"{self.about['id']} {self.about['crc32']}"

    def block(self, rule: Rule) -> bytes:
        """Return the block for a rule."""
        return self.blocks[rule.traits.family]

    def scale(self, rule: Rule) -> float:
        """Return the units of a search value per logistic unit under a rule."""
        return scale_of(self.about, rule.traits.family)

    def network(self, rule: Rule) -> bytes | None:
        """Return the block of the network for a rule (``network_block``), or None.

        Raises:
            WeightsError: it cannot be unpacked, or has a form unknown to this version.
        """
        family = rule.traits.family
        stream = self.streams.get(family)
        if stream is None:
            return None
        try:
            block = unpack(stream)
            sizes_of(block)
        except (zlib.error, WeightsError) as error:
            raise WeightsError(f"{self.id}: its network for {family} {error}") from None
        return block

    def check_networks(self) -> None:
        """Check, by their heads, that the kernel can use all networks.

        Raises:
            WeightsError: one has another form, rule or size.
        """
        for family, stream in self.streams.items():
            try:
                check_stream(stream, family)
            except (zlib.error, WeightsError) as error:
                raise WeightsError(f"{self.id}: its network for {family} {error}") from None


def scale_of(about: dict[str, str], family: str) -> float:
    """Return the scale of a family from a header, or the default; WeightsError if invalid."""
    text = about.get(f"{SCALE} {family}")
    if text is None:
        return DEFAULT_SCALE
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not LEAST_SCALE <= number <= MOST_SCALE:
        raise WeightsError(f"{SCALE} {family}: {text!r} is no scale")
    return number


def write_weights(
    path: str,
    about: dict[str, str],
    blocks: dict[str, bytes],
    networks: dict[str, bytes],
) -> None:
    """Write a weight file; ``about`` must have an ``id`` and may have any provenance.

    ``blocks``: as stored, by family; ``networks``: blocks of ``network_block``, by family.
    """
    packed = {family: pack(raw) for family, raw in networks.items()}
    body = b"".join([*blocks.values(), *packed.values()])
    contents = {"families": " ".join(blocks)}
    if packed:
        contents["networks"] = " ".join(f"{name}:{len(raw)}" for name, raw in packed.items())
    contents["crc32"] = f"{zlib.crc32(body):08x}"
    _write(path, about | contents, body)


def annotate_weights(path: str, key: str, text: str) -> None:
    """Add a line to the header of a weight file, or replace the line with this key.

    Raises:
        WeightsError: the file is not a weight file, the text is not one ASCII line, or the key is
            reserved.
    """
    about = load_weights(path).about
    fixed = ("families", "networks", "crc32")
    if key in ("id", "", *fixed) or not (key + text).isascii() or "\n" in key + text:
        raise WeightsError(f"{key}: {text} cannot be noted in a weight file")
    with open(path, "rb") as file:
        body = file.read().partition(b"\n\n")[2]
    end = {name: about.pop(name) for name in fixed if name in about}
    _write(path, {**about, key: text, **end}, body)


def _write(path: str, about: dict[str, str], body: bytes) -> None:
    """Write header and body."""
    magic = MAGIC_WITH_NETWORKS if "networks" in about else MAGIC
    lines = [magic, *(f"{name}: {word}" for name, word in about.items())]
    with open(path, "wb") as file:
        file.write("\n".join(lines).encode("ascii") + b"\n\n" + body)


def load_weights(name: str) -> Weights:
    """Read and check built-in weights by name, id or key, or a weight file by path.

    Raises:
        WeightsError: the file is missing, damaged, incomplete or not a weight file.
    """
    path = weights_file(name)
    try:
        raw = read_whole(path, start=MAGIC_START.encode())
    except FileError as error:
        raise WeightsError(f"cannot read weights {name!r}: {error}") from None
    except OSError as error:
        raise WeightsError(f"cannot read weights {name!r}: {error.strerror}") from error
    gap = raw.find(b"\n\n")
    head = raw[:gap] if gap >= 0 else raw
    body = memoryview(raw)[len(head) + 2 :]  # no copy: large ones slow down the start
    lines = head.decode("latin-1").splitlines()
    if not lines or not lines[0].startswith(MAGIC_START):
        raise WeightsError(f"{path} is not a weight file")
    if lines[0] not in (MAGIC, MAGIC_WITH_NETWORKS):
        raise WeightsError(f"{path} is a weight file of another version: {lines[0][:40]}")
    about = dict(line.partition(": ")[::2] for line in lines[1:])
    if not head.isascii():
        raise WeightsError(f"{path} is damaged: its header is not ASCII")
    if gap < 0 or f"{zlib.crc32(body):08x}" != about.get("crc32"):
        raise WeightsError(f"{path} is damaged: its checksum does not fit")
    names = about.get("families", "").split()
    missing = [family for family in FAMILIES if family not in names]
    pairs = [word.partition(":") for word in about.get("networks", "").split()]
    lengths = {family: int(length) for family, _, length in pairs if length.isdecimal()}
    end = BLOCK_BYTES * len(names)
    if missing or len(body) != end + sum(lengths.values()) or "id" not in about:
        raise WeightsError(f"{path} is incomplete: it lacks {', '.join(missing) or 'weights'}")
    for family in FAMILIES:
        scale_of(about, family)
    streams = {}
    for family, length in lengths.items():
        streams[family] = body[end : end + length]
        end += length
    linear = body[: BLOCK_BYTES * len(names)].tobytes()
    blocks = {
        family: linear[i * BLOCK_BYTES : (i + 1) * BLOCK_BYTES] for i, family in enumerate(names)
    }
    return Weights(about, blocks, streams)


def weights_file(name: str) -> str:
    """Return the file of built-in weights with this name, id or key, or the name as a path."""
    path = os.path.join(BUILT_IN, f"{name}.numoku")
    if os.path.exists(path):
        return path
    if not os.path.exists(name) and os.path.isdir(BUILT_IN):
        for built_in in sorted(os.listdir(BUILT_IN)):
            other = os.path.join(BUILT_IN, built_in)
            weights = load_weights(other)
            if name in (weights.id, weights.key, weights.about["crc32"]):
                return other
    return name
