"""A large network teaches the small one; lessons on a device; several processes that prepare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pbrain_engine import cli
from pbrain_engine.eval.weights import load_weights

torch = pytest.importorskip("torch")

from pbrain_engine.learn.network.checkpoint import ResumeError  # noqa: E402
from pbrain_engine.learn.network.lessons import Lessons, prepare  # noqa: E402
from pbrain_engine.learn.network.model import Inputs, Widths  # noqa: E402
from pbrain_engine.learn.network.resident import Resident  # noqa: E402
from pbrain_engine.learn.network.teacher import (  # noqa: E402
    SYMMETRIES,
    planes_of,
    read_teacher,
    taught_losses,
    turned,
    turned_back,
)
from pbrain_engine.learn.network.training import Run, Settings  # noqa: E402

SAMPLE = Path(__file__).parent / "games" / "sample.games"
SMALL = Widths(8, 4, 4, 8, 4, 8)
CPU = torch.device("cpu")
SIZE = (1, 4)


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> list[Lessons]:
    home = tmp_path_factory.mktemp("lessons") / "freestyle"
    return prepare([SAMPLE], [], "freestyle", load_weights("learned"), home)


def run_of(lessons: list[Lessons], family: str = "freestyle", **more: object) -> Run:
    settings = Settings(family, steps=6, batch=64, widths=SMALL)._replace(**more)  # type: ignore[arg-type]
    return Run(settings, lessons, load_weights("learned"))


def test_several_processes_prepare_what_one_does(lessons: list[Lessons], tmp_path: Path) -> None:
    weights = load_weights("learned")
    found = prepare([SAMPLE], [], "freestyle", weights, tmp_path / "two", processes=2)
    assert len(found) == len(lessons) > 1
    for one, other in zip(lessons, found, strict=True):
        assert len(one) and one[:2] == other[:2]
        for name in Lessons._fields[2:]:
            assert (getattr(one, name) == getattr(other, name)).all(), name


@pytest.mark.parametrize("family", ["freestyle", "standard", "renju"])
def test_a_device_makes_the_batches_of_the_processor(lessons: list[Lessons], family: str) -> None:
    run = run_of(lessons, family)
    for number, source in enumerate(run.sources):
        resident = Resident(source, run.known, CPU)
        pool = np.arange(len(lessons[number]))
        if family == "renju":
            pool = pool[lessons[number].side == 1]
        chosen = np.random.default_rng(4).choice(pool, 40, replace=False)
        wanted = Inputs.of(source.batch(chosen), run.known, CPU)
        found = resident.inputs(chosen)
        for name, one, other in zip(Inputs._fields, wanted, found, strict=True):
            if isinstance(one, int):
                assert one == other, name
            else:
                assert one.dtype == other.dtype and one.shape == other.shape, name
                assert torch.allclose(one.double(), other.double(), equal_nan=True), name


def test_a_turned_board_is_turned_back() -> None:
    board = torch.arange(2 * 3 * 4 * 5).view(2, 3, 4, 5)
    seen = set()
    for symmetry in range(SYMMETRIES):
        there = turned(board, symmetry)
        assert (turned_back(there, symmetry) == board).all()
        seen.add(tuple(there.flatten().tolist()))
    assert len(seen) == SYMMETRIES


@pytest.mark.parametrize("family", ["freestyle", "renju"])
def test_planes_show_the_board(lessons: list[Lessons], family: str) -> None:
    run = run_of(lessons, family)
    each = lessons[0]
    for side in (0, 1):
        chosen = np.flatnonzero(each.side == side)[:20]
        planes = planes_of(run.inputs(0, chosen)).numpy().reshape(len(chosen), 9, -1)
        board = np.asarray(each.board[chosen])
        assert (planes[:, 1] == (board == 2 - side)).all()  # the mover's stones
        assert (planes[:, 2] == (board == 1 + side)).all()
        assert (planes[:, 4] == (side if family == "renju" else 0)).all()
        for plane, cells in ((5, each.last), (6, each.second)):
            known = np.asarray(cells[chosen]) >= 0
            assert (planes[:, plane].sum(1) == known).all() and known.any()
            places = np.asarray(cells[chosen])[known]
            assert (planes[np.flatnonzero(known), plane, places] == 1).all()
        assert ((planes[:, 8] == 1) == (np.asarray(each.score[chosen]) != -32768)).all()


def test_a_teacher_learns_its_games(lessons: list[Lessons], tmp_path: Path) -> None:
    run = run_of(lessons, steps=90, rate=0.01, size=(2, 16))
    start = run.measured(run.mean)
    run.go(tmp_path / "teacher.pt", 30)
    first, last = (run.history[i]["learned"] for i in (0, -1))
    assert last.entropy < first.entropy - 0.05
    assert abs(start.entropy - run.history[-1]["held"].entropy) > 0.01
    teacher = read_teacher(tmp_path / "teacher.pt", CPU)
    inputs = run.inputs(*next(run.order.after(0)))
    run.network.load_state_dict(run.best)
    for said, told in zip(run.network.eval()(inputs), teacher(inputs), strict=True):
        assert torch.equal(said, told) and not told.requires_grad


def test_a_lesson_is_shared_by_teacher_and_games(lessons: list[Lessons]) -> None:
    run = run_of(lessons)
    inputs = run.inputs(*next(run.order.after(0)))
    with torch.no_grad():
        said = run.network(inputs)
    told = (said[0] + 1.5, torch.sin(torch.arange(len(said[1])) * 1.0))
    alone = taught_losses(said, told, inputs, 0.0)
    chosen = inputs.chosen[inputs.chooses]
    log = torch.zeros(len(chosen))
    for i, row in enumerate(inputs.chooses.nonzero().squeeze(1)):
        log[i] = said[1][chosen[i]] - said[1][inputs.rows == row].logsumexp(0)
    assert float(alone.move) == pytest.approx(-float(log.mean()), abs=1e-5)
    ends = [float(taught_losses(said, told, inputs, share).value) for share in (0, 0.5, 1)]
    assert ends[1] == pytest.approx((ends[0] + ends[2]) / 2, abs=1e-5)
    # What the teacher says itself loses least against the teacher.
    least = taught_losses(told, told, inputs, 1.0)
    for other in (said, (told[0] + 0.3, told[1] * 1.2)):
        assert taught_losses(other, told, inputs, 1.0).value > least.value
        assert taught_losses(other, told, inputs, 1.0).move > least.move


def test_a_network_follows_its_teacher(lessons: list[Lessons], tmp_path: Path) -> None:
    teacher = run_of(lessons, steps=2, size=SIZE)
    teacher.network.state_dict()["last.bias"].add_(1.5)
    teacher.network.state_dict()["score_share"].add_(1.0)
    teacher.best = teacher.network.state_dict()
    teacher.save(tmp_path / "teacher.pt")
    more = {"teacher": str(tmp_path / "teacher.pt"), "teacher_share": 1.0}
    run = run_of(lessons, steps=50, rate=0.01, **more)
    assert run.teacher is not None
    before = {name: value.clone() for name, value in run.teacher.state_dict().items()}
    inputs = run.inputs(*next(run.order.after(0)))

    def lost() -> float:
        with torch.no_grad():
            taught = taught_losses(run.network(inputs), run.teacher(inputs), inputs, 1.0)
        return float(taught.value + taught.move)

    first = lost()
    run.go(tmp_path / "run.pt", 50)
    assert lost() < first - 0.1
    assert all(torch.equal(value, before[name]) for name, value in run.teacher.state_dict().items())


def test_a_checkpoint_of_a_small_network_is_no_teacher(
    lessons: list[Lessons], tmp_path: Path
) -> None:
    run_of(lessons).save(tmp_path / "small.pt")
    with pytest.raises(ResumeError, match="no checkpoint of a teacher"):
        read_teacher(tmp_path / "small.pt", CPU)
    with pytest.raises(ResumeError, match="size"):
        run_of(lessons, size=SIZE).resume(tmp_path / "small.pt")


def test_the_command_teaches_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.numoku"
    words = ["train", str(SAMPLE), "--out", str(path), "--batch", "64", "--steps", "2"]
    words += ["--families", "freestyle", "--teacher", "1x4", "--teacher-steps", "2"]
    assert cli.main(words) == 0
    assert "freestyle: teacher value" in capsys.readouterr().out
    folder = tmp_path / "net.numoku.training" / "freestyle"
    assert (folder / "teacher.html").exists() and (folder / "losses.html").exists()
    first, teacher = path.read_bytes(), (folder / "teacher.pt").stat().st_mtime_ns
    assert cli.main(words) == 0  # all steps of both are done
    assert path.read_bytes() == first and (folder / "teacher.pt").stat().st_mtime_ns == teacher
    assert cli.main([*words, "--teacher", "2x4"]) == 1
    assert "was trained with size" in capsys.readouterr().err
    for wrong in ("8", "8x", "x8", "8x0"):
        with pytest.raises(SystemExit):
            cli.main([*words, "--teacher", wrong])
    assert cli.main([*words, "--teacher-share", "2"]) == 1
