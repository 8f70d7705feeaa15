"""Instructions and rows compute in plain Python what integers do; fields of words are read back."""

import random

import numpy as np
import pytest

from pbrain_engine.kernel import bits, lanes
from pbrain_engine.kernel.bits import packed

pytestmark = pytest.mark.uncompiled


def test_single_instructions_compute_what_integers_do():
    chance = random.Random(1)
    for word in (1, 2**63, 2**64 - 1, *(chance.getrandbits(64) for _ in range(50))):
        digits = f"{word:064b}"
        assert bits.lowest_bit(np.uint64(word)) == len(digits) - 1 - digits.rindex("1")
        assert bits.popcount(np.uint64(word)) == digits.count("1")
        for n in (0, 1, 7, 63, 64, 65, 127):
            turned = digits[64 - n % 64 :] + digits[: 64 - n % 64]
            assert bits.rotate_right(np.uint64(word), n) == int(turned, 2)
    words = np.array([3, 5, 7], np.int64)
    assert bits.exchange(words, 1, 9) == 5 and list(words) == [3, 9, 7]
    assert bits.poll_host(1) == 0


def test_rows_compute_what_lists_do():
    chance = random.Random(2)
    a, b = ([chance.randint(-(2**14), 2**14 - 1) for _ in range(40)] for _ in range(2))
    shorts, others, ints = np.array(a, np.int16), np.array(b, np.int16), np.array(a, np.int32)
    one, other, wide = lanes.load(shorts, 3), lanes.load(others, 5), lanes.load(ints, 3)
    a, b = a[3:19], b[5:21]
    total = lanes.add_products(wide, shorts, 4, others, 7)
    weights, inputs = [int(w) for w in shorts[4:36]], [int(i) for i in others[7:9]]
    rows = {
        "load": (one, a), "widen": (lanes.widen(one), a), "narrow": (lanes.narrow(wide), a),
        "zero": (lanes.zero_ints(), [0] * 16),
        "add": (lanes.add(one, other), [x + y for x, y in zip(a, b, strict=True)]),
        "subtract": (lanes.subtract(one, other), [x - y for x, y in zip(a, b, strict=True)]),
        "clamp": (lanes.clamp(one, -300, 200), [min(max(x, -300), 200) for x in a]),
        "left": (lanes.shift_left(wide, 3), [8 * x for x in a]),
        "right": (lanes.shift_right(one, 3), [x // 8 for x in a]),
        "high": (lanes.multiply_high(one, other), [x * y >> 16 for x, y in zip(a, b, strict=True)]),
        "products": (total, [
            x + weights[2 * n] * inputs[0] + weights[2 * n + 1] * inputs[1]
            for n, x in enumerate(a)]),
    }  # fmt: skip
    for name, (found, expected) in rows.items():
        assert list(map(int, found)) == expected, name
        is_short = name not in ("widen", "zero", "left", "products")
        assert found.dtype == (np.int16 if is_short else np.int32), name
    assert lanes.dot(one, one) == sum(x * x for x in a) - (sum(x * x for x in a) >> 31 << 32)
    for target in (shorts, ints):
        before = list(target)
        lanes.save(target, 20, target[:16] + target.dtype.type(1))
        assert list(target) == before[:20] + [x + 1 for x in before[:16]] + before[36:]


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


def test_a_number_that_is_too_large_is_refused():
    _, _, pack = packed(low=4, high=-8)
    for low, high in ((16, 0), (-1, 0), (0, 128), (0, -129)):
        with pytest.raises(AssertionError):
            pack(low, high)
    with pytest.raises(AssertionError):
        packed(low=40, high=25)
