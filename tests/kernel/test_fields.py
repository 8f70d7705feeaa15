"""Fields of few bits in a word: what is packed is read back, whatever stands in the others."""

import random

import numpy as np
import pytest

from pbrain_engine.kernel.fields import packed

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("seed", range(20))
def test_what_is_packed_is_read_back(seed):
    chance = random.Random(seed)
    left, widths = 64, dict[str, int]()
    while left > 1 and len(widths) < 8:
        width = chance.randint(2, min(left, 30))
        widths[f"field{len(widths)}"] = width if chance.random() < 0.5 else -width
        left -= width
    *readers, pack = packed(**widths)
    for _ in range(20):
        numbers = []
        for width in widths.values():
            half = 1 << abs(width) - 1
            least, most = (0, 2 * half - 1) if width > 0 else (-half, half - 1)
            numbers.append(chance.choice((least, most, chance.randint(least, most))))
        word = pack(*map(np.int64, numbers))
        assert [int(read(word)) for read in readers] == numbers


def test_fields_lie_one_above_the_other():
    low, high, pack = packed(low=4, high=-8)
    assert pack(5, -128) == 5 and pack(0, -127) == 16
    assert low(np.uint64(0x7F5)) == 5 and high(np.uint64(0x7F5)) == -1


def test_a_number_that_is_too_large_is_refused():
    _, _, pack = packed(low=4, high=-8)
    for low, high in ((16, 0), (-1, 0), (0, 128), (0, -129)):
        with pytest.raises(AssertionError):
            pack(low, high)
    with pytest.raises(AssertionError):
        packed(low=40, high=25)
