"""Weight files with networks: what is written is read again, and damage is reported in one line."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from pbrain_engine import Rule, WeightsError
from pbrain_engine.eval.network_block import (
    PATTERNS,
    Sizes,
    fields,
    pack,
    shared_fields,
    sizes_of,
    unpack,
)
from pbrain_engine.eval.weights import (
    BLOCK_BYTES,
    FAMILIES,
    annotate_weights,
    load_weights,
    write_weights,
)
from tests.networks import HAND_BLOCKS

SIZES = Sizes(1, 4, 1, 1, PATTERNS[4], 50, 8, 4, 4, 8, 4, 37)


def small_network(sizes: Sizes = SIZES) -> bytes:
    """Return a block of the right length, of bytes that differ."""
    length = sum(field.bytes for field in fields(sizes))
    return sizes.pack() + bytes(i * 7 % 251 for i in range(length))


def write_small(path: Path) -> bytes:
    """Write a file with two networks; return one of them."""
    raw = small_network()
    write_weights(str(path), {"id": "small"}, HAND_BLOCKS, {"freestyle": raw, "caro": raw[::1]})
    return raw


def test_networks_come_back_from_a_weight_file(tmp_path):
    path = tmp_path / "net.numoku"
    raw = write_small(path)
    weights, hand = load_weights(str(path)), load_weights("hand")
    assert weights.network(Rule.FREESTYLE) == weights.network(Rule.CARO_EXACT) == raw
    assert weights.network(Rule.RENJU) is None
    assert all(weights.block(rule) == hand.block(rule) for rule in Rule)
    assert hand.network(Rule.FREESTYLE) is None


@pytest.mark.parametrize("tied", [0, 1])
def test_a_network_is_packed_by_columns_and_comes_back_from_rows_too(tied):
    sizes = SIZES._replace(tied=tied, heads=2 - tied)
    raw = small_network(sizes)
    packed = pack(raw)
    turned = zlib.decompress(packed)
    numbers = np.frombuffer(raw, "<u2", PATTERNS[4], 64)
    assert turned[:4] == b"\2\0\0\0" and turned[4:64] == raw[4:64] and len(turned) == len(raw)
    assert turned[64:][: PATTERNS[4]] == (numbers & 255).astype(np.uint8).tobytes()
    *before, book = shared_fields(sizes)
    at = 64 + sum(field.bytes for field in before)
    first = np.frombuffer(raw, "<u2", sizes.codes * book.shape[1], at)[:: book.shape[1]]
    assert turned[at:][: sizes.codes] == (first & 255).astype(np.uint8).tobytes()
    assert unpack(packed) == raw == unpack(zlib.compress(raw))


def test_a_note_leaves_the_networks_alone(tmp_path):
    path = tmp_path / "net.numoku"
    raw = write_small(path)
    before = load_weights(str(path))
    annotate_weights(str(path), "match 1", "won")
    after = load_weights(str(path))
    assert after.about == before.about | {"match 1": "won"} and after.key == before.key
    assert after.network(Rule.FREESTYLE) == raw
    with pytest.raises(WeightsError, match="cannot be noted"):
        annotate_weights(str(path), "networks", "freestyle:1")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda raw: raw[:-1], "damaged"),
        (lambda raw: raw[:-9] + b"x" + raw[-8:], "damaged"),
        (lambda raw: raw[:30], "damaged"),
        (lambda raw: raw.replace(b"weights 2", b"weights 7", 1), "another version"),
        (lambda raw: b"numoku games 1\n\n" + raw, "not a weight file"),
        (
            lambda raw: raw.replace(b"networks: freestyle:", b"networks: freestyle:9", 1),
            "incomplete",
        ),
        (lambda raw: raw.replace(b"\n", b"\n\xb3", 1), "not ASCII"),
        (lambda raw: b"", "not a weight file"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, harm, words):
    path = tmp_path / "net.numoku"
    write_small(path)
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(WeightsError, match=words) as error:
        load_weights(str(path))
    assert "\n" not in str(error.value) and path.name in str(error.value)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda raw: raw[:40], "40 bytes only"),
        (lambda raw: raw[:-2], "bytes, not"),
        (lambda raw: b"\7" + raw[1:], "of form 7"),
        (lambda raw: raw[:4] + b"\6" + raw[5:], "sizes that no network has"),
        (lambda raw: raw[:24] + b"\xff\xff\xff\x7f" + raw[28:], "sizes that no network has"),
    ],
)
def test_a_block_of_another_kind_is_one_line(tmp_path, harm, words):
    raw = harm(small_network())
    with pytest.raises(WeightsError, match=words):
        sizes_of(raw)
    path = tmp_path / "net.numoku"
    write_weights(str(path), {"id": "odd"}, HAND_BLOCKS, {"renju": raw})
    weights = load_weights(str(path))
    with pytest.raises(WeightsError, match=words):
        weights.network(Rule.RENJU)
    assert weights.network(Rule.FREESTYLE) is None


UNITS = ((1, 1024), (0, 1025))
SIZES_OF_NETWORKS = {  # some that networks may have, and some that none has
    "half": ((4,), (3, 5, 6)), "tied": ((0, 1), (-1, 2)), "heads": ((1, 2), (0, 3)),
    "patterns": ((PATTERNS[4],), (PATTERNS[5],)), "codes": ((1, 1 << 16), (0, (1 << 16) + 1)),
    "channels": ((2, 1024), (0, 7, 1026)), "region_units": UNITS, "cell_units": UNITS,
    "trunk_units": UNITS, "value_units": UNITS, "near": ((37,), (36, 38)),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES_OF_NETWORKS)
def test_each_size_of_a_network_has_its_limits(name):
    for sizes, words in zip(SIZES_OF_NETWORKS[name], ("64 bytes, not", "that no"), strict=True):
        for size in sizes:
            with pytest.raises(WeightsError, match=words):
                sizes_of(SIZES._replace(**{name: size}).pack())


def test_a_stream_that_does_not_unpack_is_one_line(tmp_path):
    path = tmp_path / "net.numoku"
    write_small(path)
    head, _, body = path.read_bytes().partition(b"\n\n")
    broken = bytearray(body)
    broken[BLOCK_BYTES * len(FAMILIES) + 20] ^= 255
    old, new = f"{zlib.crc32(body):08x}", f"{zlib.crc32(broken):08x}"
    path.write_bytes(head.replace(old.encode(), new.encode()) + b"\n\n" + bytes(broken))
    with pytest.raises(WeightsError, match="freestyle"):
        load_weights(str(path)).network(Rule.FREESTYLE)
