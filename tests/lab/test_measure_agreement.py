"""What the comparison of short searches with deep labels says."""

from __future__ import annotations

from math import log

import pytest

from lab import measure_agreement
from lab.measure_agreement import odds_of, parse_variant
from pbrain_engine.learn.datagen import main as datagen
from pbrain_engine.learn.yardstick import loss_above_least


def test_a_loss_is_nothing_for_the_label_itself_and_bounded_for_a_wrong_claim():
    assert loss_above_least(log(0.3 / 0.7), 0.3) == pytest.approx(0)
    assert loss_above_least(0, 1.0) == pytest.approx(log(2))
    assert loss_above_least(odds_of(-29_999, 258), 1.0) == pytest.approx(log(10_000))
    assert loss_above_least(1, 0.6) == pytest.approx(loss_above_least(-1, 0.4))


def test_a_variant_is_parsed():
    assert parse_variant("-") == {}
    assert parse_variant("razor_base=60,razor_slope=-2") == {"razor_base": 60, "razor_slope": -2}
    with pytest.raises(ValueError):
        parse_variant("razor_base")


def test_variants_are_compared_with_the_first(tmp_path, monkeypatch, capsys):
    games, labels = str(tmp_path / "a.games"), str(tmp_path / "deep.games")
    datagen([games, "--games", "2", "--nodes", "40", "--processes", "1"])
    datagen([labels, "--positions", games, "--open", "--count", "6", "--nodes", "3000"])
    capsys.readouterr()
    words = ["measure_agreement", labels, "-", "-", "razor_base=0", "--nodes", "3000"]
    monkeypatch.setattr("sys.argv", words)
    measure_agreement.main()
    first, same, other = capsys.readouterr().out.splitlines()
    name, loss, agreeing = first.split()[:3]
    assert (name, agreeing) == ("-", "100.0%") and float(loss) < 0.001  # the labels' own search
    assert same.split()[1:4] == first.split()[1:4] and "+0.0000 (0.0000)   +0.0000" in same
    assert other.startswith("razor_base=0") and other.split()[1] != "0.0000"
