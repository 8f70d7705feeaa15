"""The comparison of two revisions: what it makes of the figures."""

from __future__ import annotations

from typing import Any

import pytest

from tests.packaging.building import compare


def figures(nodes: int, nps: float, pairs: float) -> dict[str, Any]:
    return {"nodes": nodes, "nps": nps, "pairs": pairs}


def test_the_ratio_is_the_median_of_neighbouring_runs() -> None:
    results = [
        (figures(7, 200.0, 10.0), figures(7, 100.0, 10.0)),
        (figures(7, 60.0, 10.0), figures(7, 50.0, 10.0)),  # both slow: something else ran
        (figures(7, 150.0, 10.0), figures(7, 100.0, 10.0)),
    ]
    lines = compare.table("abc1234", results).splitlines()
    assert lines[1].split()[-1] == "1.500"
    assert lines[3].split()[-1] == "1.000"
    assert lines[-1].split() == ["signature", "7", "7", "same"]


def test_another_signature_is_said() -> None:
    results = [(figures(7, 1.0, 1.0), figures(8, 1.0, 1.0))]
    assert compare.table("abc1234", results).splitlines()[-1].split()[-1] == "differs"


def test_a_revision_that_does_not_exist_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["no-such-revision"]) == 1
    assert "error:" in capsys.readouterr().err
