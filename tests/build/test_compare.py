"""What the scripts of build/ make of figures: of two revisions, and of a package."""

from __future__ import annotations

import sys

import pytest

from tests.build.building import compare, report


def test_the_ratio_is_the_median_of_neighbouring_runs_and_another_signature_is_said():
    speeds = [(200.0, 100.0), (60.0, 50.0), (150.0, 100.0)]  # the second both slow
    for nodes, word in ((7, "same"), (8, "differs")):
        results = [
            tuple(
                {"nodes": count, "nps": nps, "pairs": 10.0}
                for count, nps in zip((7, nodes), pair, strict=True)
            )
            for pair in speeds
        ]
        lines = compare.table("abc1234", results).splitlines()
        assert lines[1].split()[-1] == "1.500" and lines[3].split()[-1] == "1.000"
        assert lines[-1].split() == ["signature", "7", str(nodes), word]


@pytest.mark.parametrize(("kernel", "weights"), [("a", b"1"), ("b", b"1"), ("a", b"2")])
def test_revisions_with_another_kernel_or_other_weights_are_compared_and_no_others(
    monkeypatch, tmp_path, kernel, weights
):
    base, here = tmp_path / "base", tmp_path / "here"
    for tree, numbers in ((base, weights), (here, b"1")):
        (tree / "pbrain_engine/weights").mkdir(parents=True)
        (tree / "pbrain_engine/weights/net").write_bytes(numbers)
    monkeypatch.setattr(compare, "ROOT", here)
    monkeypatch.setattr(compare, "run", lambda command, tree, **_: kernel if tree == base else "a")
    monkeypatch.setattr(compare, "run_bench", lambda tool, folder, **_: {"nodes": folder.name})
    wanted = [({"nodes": "here"}, {"nodes": "base"})] * 2
    assert compare.compare(base, 2) == (wanted if (kernel, weights) != ("a", b"1") else [])


@pytest.mark.timed
@pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")
@pytest.mark.parametrize(("seconds", "good"), [(0.0, True), (0.6, False)])
def test_a_late_start_is_outside_of_its_limit(tmp_path, monkeypatch, seconds, good):
    program = tmp_path / "program"
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys, time\ntime.sleep({seconds})\n"
        "print('OK', flush=True)\nprint('7,7', flush=True)\nsys.stdin.read()\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(report, "STARTS", 3)
    monkeypatch.setattr(report, "COLD_STARTS", 1)  # each drops the caches of the whole machine
    bare, *lines = report.start_lines(program)
    assert bare.good and bare.name == "start of a bare Python"
    warm = lines[:2]
    assert [line.good for line in warm] == [good, good]
    assert all(line.limit.startswith("at most ") for line in lines)
