"""The positions of the bench: openings and middle games of Numoku against itself.

Every rule occurs on 15x15 and 20x20, the quiet beside the sharp. Changing this list changes
the signature.
"""

from __future__ import annotations

from typing import NamedTuple

from ..position.rules import Rule


class BenchPosition(NamedTuple):
    """A position as the moves that led to it."""

    rule: Rule
    size: int
    moves: str


POSITIONS = (
    BenchPosition(Rule.FREESTYLE, 15, "h8i9i7g9"),
    BenchPosition(Rule.FREESTYLE, 15, "h9g11i7h7k9j8k8i9h10k10"),
    BenchPosition(Rule.FREESTYLE, 15, "k5k9k11k7j9l7l10j8i9h8j7k6k8i6j12i13"),
    BenchPosition(
        Rule.FREESTYLE, 20, "i9j12i13j13j10k15j15k16k14i16l16j17l12k11l14m14l15l13k18f13h15m11"
    ),
    BenchPosition(Rule.FREESTYLE, 20, "i14l14m11i12l13j13k14m12i16j15j16i15j11k12h16g16"),
    BenchPosition(Rule.STANDARD, 15, "h8h7j8i6"),
    BenchPosition(Rule.STANDARD, 15, "e7f11i11j8f9e9e11k10h10f8g7h7j9k9k11l10i7m11n12h11m10k6"),
    BenchPosition(Rule.STANDARD, 15, "h5f9g9j8e5h7g8f5i8g6f8g10h11h8h6e7"),
    BenchPosition(Rule.STANDARD, 20, "n14i12j11k14l15i14i13h12h14j12"),
    BenchPosition(Rule.STANDARD, 20, "n9n10i8m13m11l11m9m8k8j8l9k9h6i6f5h5"),
    BenchPosition(Rule.RENJU, 15, "h8i7j9h10i10"),
    BenchPosition(Rule.RENJU, 15, "e5f8g8e6e9e11f9d9j11h9"),
    BenchPosition(Rule.RENJU, 15, "e11i5k6j5h5j4i6l5k5j6j7k8j2h4g4f3k7k3h6e7g3g6i7h7g5f4f5e6"),
    BenchPosition(Rule.RENJU, 20, "l8i8h8n8e9e6f5g9f11i9i10j9h9j11k10h10j8j12i11m9l9m10"),
    BenchPosition(Rule.RENJU, 20, "j13m9i8l14k11l11j14j16k15i13l12k12i15k13j11j12"),
    BenchPosition(Rule.CARO, 15, "j9j11e7f5k11k8i5h6g8e10"),
    BenchPosition(Rule.CARO, 15, "k9h9g5f9e9g11f11k10d7i10g8g7h10i11i8e8"),
    BenchPosition(
        Rule.CARO, 20, "h11j9l8h10k10m7n9o8n10n7o7l10j8m9m6p11i11k11i13i12k5p8q8e11p10g13d10p5"
    ),
    BenchPosition(Rule.CARO_EXACT, 15, "h7g7j10i9j11k10g5j12k8i11"),
    BenchPosition(Rule.CARO_EXACT, 15, "h7h8g10h11i9k9j11j7e9k8g9k10k7g8j8h10"),
    BenchPosition(Rule.CARO_EXACT, 20, "k10k12j12l9i14j14h16k16e16f16"),
    BenchPosition(Rule.CARO_EXACT, 20, "j14k8i10m13k16l16j11j12k14m14m12l13l14k17o13i14"),
)

SHORT = tuple(next(p for p in POSITIONS if p.rule is rule and p.size == 15) for rule in Rule)

# Where make and undo are timed: freestyle middle games on 15x15.
PAIR_POSITIONS = tuple(p for p in POSITIONS[1:] if p.rule is Rule.FREESTYLE and p.size == 15)
