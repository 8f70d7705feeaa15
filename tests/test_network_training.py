"""Training a network: what is held out stays so, a run goes on where it stopped, integers fit."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

from pbrain_engine import cli
from pbrain_engine.eval.network_block import PATTERNS
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.game.game import Game
from pbrain_engine.learn import train
from pbrain_engine.learn.records import group_of, read_games
from pbrain_engine.position.rules import Rule

torch = pytest.importorskip("torch")

from pbrain_engine.learn.network import sums  # noqa: E402
from pbrain_engine.learn.network.batches import Order, Source, held_out  # noqa: E402
from pbrain_engine.learn.network.checkpoint import ResumeError, begin_at  # noqa: E402
from pbrain_engine.learn.network.codebook import make_codebook  # noqa: E402
from pbrain_engine.learn.network.command import Trained  # noqa: E402
from pbrain_engine.learn.network.lessons import Lessons, prepare  # noqa: E402
from pbrain_engine.learn.network.model import Network, Widths, level, losses  # noqa: E402
from pbrain_engine.learn.network.patterns import patterns, patterns_on  # noqa: E402
from pbrain_engine.learn.network.reference import forward, pack, unpack  # noqa: E402
from pbrain_engine.learn.network.training import Run, Score, Settings  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

SAMPLE = Path(__file__).parent / "games" / "sample.games"
SMALL = Widths(8, 4, 4, 8, 4, 8)
SETTINGS = Settings("freestyle", steps=6, batch=64, widths=SMALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("network")


@pytest.fixture(scope="module")
def lessons(folder: Path) -> list[Lessons]:
    return prepare([SAMPLE], [], "freestyle", load_weights("learned"), folder / "freestyle")


def run_of(lessons: list[Lessons], settings: Settings = SETTINGS) -> Run:
    return Run(settings, lessons, load_weights("learned"))


# Patterns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [4, 5])
def test_a_window_and_its_mirror_image_are_one_pattern(half: int) -> None:
    known = patterns(half)
    assert len(known) == PATTERNS[half]
    keys = np.random.default_rng(1).integers(0, 1 << (4 * half), 500)
    mirrored = np.zeros_like(keys)
    for place in range(2 * half):
        mirrored |= (keys >> (2 * place) & 3) << (2 * (2 * half - 1 - place))
    assert (known.number[keys] == known.number[mirrored]).all()
    assert (known.swapped[known.swapped] == np.arange(len(known))).all()
    assert len(known) - 1 == known.number[-1] == known.blank


def test_what_lies_beyond_a_wall_is_not_seen() -> None:
    known = patterns(4)
    assert known.number[0b11_11_11_10_11_00_11_11] == known.number[0b11_11_11_10_11_00_00_00]
    assert known.number[0b11_11_11_10_11_00_11_11] != known.number[0b11_11_11_01_11_00_11_11]


def test_patterns_of_a_board_are_those_of_its_lines() -> None:
    board = np.random.default_rng(2).choice([3, 3, 3, 2, 1], (1, 7, 9)).astype(np.uint8)
    known, found = patterns(4), patterns_on(board, patterns(4)).reshape(7, 9, 4)
    for y in range(7):
        for x in range(9):
            for direction, (down, right) in enumerate(((0, 1), (1, 0), (1, 1), (-1, 1))):
                key = place = 0
                for offset in (-4, -3, -2, -1, 1, 2, 3, 4):
                    row, column = y + down * offset, x + right * offset
                    if 0 <= row < 7 and 0 <= column < 9:
                        key |= int(board[0, row, column]) << (2 * place)
                    place += 1
                wanted = known.number[key] if board[0, y, x] == 3 else len(known)
                assert found[y, x, direction] == wanted


# Lessons ------------------------------------------------------------------------------------


def test_lessons_are_the_positions_of_the_games(lessons: list[Lessons]) -> None:
    weights = load_weights("learned")
    checked = 0
    games = list(read_games(SAMPLE))
    for each in lessons:
        for i in range(0, len(each), 37):
            record = games[each.game[i]]
            game = Game(record.width, record.height, record.rule, weights=weights)
            board = np.full(each.width * each.height, 3)
            for cell in record.moves[: int((each.board[i] != 3).sum())]:
                board[cell] = 2 if game.to_move == 0 else 1
                game.play(cell % each.width, cell // each.width)
            assert (board == each.board[i]).all()
            assert game.to_move == each.side[i] and game.value() == each.linear[i]
            assert each.held[i] == (group_of(record.number) < 1)
            assert record.moves[game.ply] == each.move[i]
            assert record.moves[game.ply - 1] == each.last[i]
            assert record.moves[game.ply - 2] == each.second[i]
            checked += 1
    assert checked > 20


def test_held_out_games_are_never_learned_from(lessons: list[Lessons]) -> None:
    sources = run_of(lessons).sources
    for tied in (True, False):
        order, learned = Order(sources, 50, 1, tied), set()
        for epoch in range(3):
            for number, chosen in order.epoch(epoch):
                learned |= {(number, int(game)) for game in lessons[number].game[chosen]}
        batches = held_out(sources, 50, 1 << 60, tied)
        kept = {(n, int(game)) for n, chosen in batches for game in lessons[n].game[chosen]}
        assert learned and kept and not learned & kept
        assert sum(len(chosen) for _, chosen in batches) == sum(each.held.sum() for each in lessons)


def test_an_epoch_takes_every_position_once(lessons: list[Lessons]) -> None:
    order = Order(run_of(lessons).sources, 7, 3, True)
    taken = [(n, int(i)) for n, chosen in order.epoch(0) for i in chosen]
    assert len(taken) == len(set(taken)) > order.positions - 7 * len(lessons)
    assert [n for n, _ in order.epoch(0)] != [n for n, _ in order.epoch(1)]
    follow = order.after(order.batches + 2)
    for wanted, found in zip(order.epoch(1)[2:], follow, strict=False):
        assert wanted[0] == found[0] and (wanted[1] == found[1]).all()


def test_a_damaged_file_leaves_the_prepared_positions(folder: Path, tmp_path: Path) -> None:
    weights, home = load_weights("learned"), tmp_path / "freestyle"
    games = tmp_path / "some.games"
    games.write_bytes(SAMPLE.read_bytes())
    before = sum(map(len, prepare([games], [], "freestyle", weights, home)))
    raw = bytearray(games.read_bytes())
    raw[len(raw) // 2] ^= 1
    games.write_bytes(bytes(raw) + b"x")
    with pytest.raises(OSError, match="damaged"):
        prepare([games], [], "freestyle", weights, home)
    games.write_bytes(SAMPLE.read_bytes())
    assert sum(map(len, prepare([games], [], "freestyle", weights, home))) == before


# Sums ---------------------------------------------------------------------------------------


def test_loops_and_torch_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    chance = np.random.default_rng(5)
    numbers = torch.from_numpy(chance.integers(0, 30, (2 * 6 * 7, 4)).astype(np.int32))
    numbers[::5] = 30
    cells = torch.from_numpy(chance.choice(2 * 6 * 7, 40, replace=False))
    results = []
    for with_loops in (True, False):
        monkeypatch.setattr(sums, "uses_loops", lambda tensor, answer=with_loops: answer)
        vectors = torch.from_numpy(np.random.default_rng(6).normal(0, 1, (31, 8)))
        vectors = vectors.float()
        vectors[30] = 0
        vectors.requires_grad_()
        features = sums.cell_features(numbers, vectors, 2.0)
        around = sums.neighbour_sums(features, cells, 6, 7)
        scales = torch.arange(around.numel()).view(around.shape).sin()
        (around * scales).sum().backward()
        results.append((features.detach(), around.detach(), vectors.grad[:30]))
    for one, other in zip(*results, strict=True):
        assert torch.allclose(one, other, atol=1e-4)
    assert 0 < int((results[0][0] == 2).sum()) and float(results[0][2].abs().max()) > 0.1


# Runs ---------------------------------------------------------------------------------------


def test_a_run_that_stops_and_goes_on_is_the_run_in_one_go(
    lessons: list[Lessons], tmp_path: Path
) -> None:
    whole = run_of(lessons)
    whole.go(tmp_path / "whole.pt", 3)
    stopping = run_of(lessons)
    with pytest.raises(KeyboardInterrupt):
        stopping.go(tmp_path / "part.pt", 3, stopped=lambda: stopping.step == 4)
    going_on = run_of(lessons, SETTINGS)
    going_on.resume(tmp_path / "part.pt")
    assert going_on.step == 4
    going_on.go(tmp_path / "part.pt", 3)
    assert whole.step == going_on.step == 6
    for name, value in whole.mean.items():
        assert torch.equal(value, going_on.mean[name]), name
        assert torch.equal(whole.best[name], going_on.best[name]), name
    assert [each["step"] for each in going_on.history] == [3, 6]


def test_the_network_that_did_best_on_held_out_positions_is_kept(
    lessons: list[Lessons], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(lessons)
    scores = iter([Score(0.6, 0.6, entropy, 0.4) for entropy in (2.0, 1.8, 1.9)])
    means: list[dict[str, torch.Tensor]] = []

    def measured(state: dict[str, torch.Tensor], most: int | None = None) -> Score:
        means.append({name: value.clone() for name, value in state.items()})
        return next(scores)

    monkeypatch.setattr(run, "measured", measured)
    run.go(tmp_path / "run.pt", 2)
    assert run.step == 6 and len(means) == 3
    found = torch.load(tmp_path / "run.pt", weights_only=True)
    assert found["least"] == run.least == pytest.approx(2 * 0.6 + 1.8)
    for name, value in means[1].items():
        assert torch.equal(run.best[name], value) and torch.equal(found["best"][name], value)
    assert any(not torch.equal(run.best[name], run.mean[name]) for name in run.best)


def test_another_seed_is_another_run(lessons: list[Lessons], tmp_path: Path) -> None:
    one, other = run_of(lessons), run_of(lessons, SETTINGS._replace(seed=2))
    assert not torch.equal(one.mean["maps.0.first.weight"], other.mean["maps.0.first.weight"])
    one.save(tmp_path / "one.pt")
    with pytest.raises(ResumeError, match="seed 1, not 2"):
        other.resume(tmp_path / "one.pt")
    (tmp_path / "one.pt").write_bytes((tmp_path / "one.pt").read_bytes()[:1000])
    with pytest.raises(ResumeError, match="no checkpoint that can be read") as error:
        one.resume(tmp_path / "one.pt")
    assert "\n" not in str(error.value)


def said(network: Network, board: np.ndarray, side: int = 0) -> torch.Tensor:  # type: ignore[type-arg]
    """Return the features that a network gives a board's cells."""
    known = network.known
    numbers = torch.from_numpy(patterns_on(board, known)).long()
    used = torch.arange(len(known))
    vectors = network.vectors(used, torch.from_numpy(known.swapped).long(), side)
    return sums.cell_features(numbers.int(), vectors, 2.0).detach()


@pytest.mark.parametrize("family", ["freestyle", "standard", "renju"])
def test_a_network_begins_at_another_one(
    lessons: list[Lessons], tmp_path: Path, family: str
) -> None:
    before = run_of(lessons)
    before.best = excited("freestyle").state_dict()
    before.save(tmp_path / "first.pt")
    settings = SETTINGS._replace(family=family, begin=str(tmp_path / "first.pt"))
    after = run_of(lessons, settings).network
    board = np.random.default_rng(3).choice([3, 3, 3, 2, 1], (1, 9, 9)).astype(np.uint8)
    wanted = said(excited("freestyle"), board)
    assert float(wanted.std()) > 0.1
    for side in range(len(after.heads)):
        assert torch.allclose(said(after, board, 0), wanted, atol=1e-5)
        for name, value in after.heads[side].state_dict().items():
            assert torch.equal(value, before.best[f"heads.0.{name}"]), name


@pytest.mark.parametrize("family", ["freestyle", "renju"])
def test_a_network_with_more_channels_begins_at_a_narrow_one(
    lessons: list[Lessons], tmp_path: Path, family: str
) -> None:
    before = run_of(lessons, SETTINGS._replace(family=family))
    before.best = excited(family).state_dict()
    before.save(tmp_path / "narrow.pt")
    wide = SETTINGS._replace(
        family=family, widths=SMALL._replace(channels=16), begin=str(tmp_path / "narrow.pt")
    )
    after = run_of(lessons, wide)
    before.network.load_state_dict(before.best)
    inputs = before.inputs(*next(before.order.after(0)))
    for said, same in zip(before.network(inputs), after.network(inputs), strict=True):
        assert torch.allclose(said, same, atol=1e-4) and float(said.detach().std()) > 0.1
    after.learn(inputs)
    after.learn(inputs)
    head = after.network.heads[inputs.side]
    for layer in (head.region.weight, head.trunk.weight[:, :16], head.policy.weight[:16].T):
        new = layer.detach()[:, 4:8]  # between the narrow one's halves
        assert (new.abs().amax(0) > 0).all()


def test_a_network_that_does_not_fit_is_not_begun_at(
    lessons: list[Lessons], tmp_path: Path
) -> None:
    wide = run_of(lessons, SETTINGS._replace(family="standard"))
    wide.save(tmp_path / "wide.pt")
    with pytest.raises(ResumeError, match="wider windows"):
        begin_at(run_of(lessons).network, tmp_path / "wide.pt")
    other = run_of(lessons, SETTINGS._replace(widths=SMALL._replace(trunk_units=12)))
    other.save(tmp_path / "other.pt")
    with pytest.raises(ResumeError, match="does not fit"):
        begin_at(run_of(lessons).network, tmp_path / "other.pt")
    (tmp_path / "no.pt").write_bytes(b"nothing")
    with pytest.raises(ResumeError, match="no checkpoint that can be read"):
        begin_at(run_of(lessons).network, tmp_path / "no.pt")


def test_branches_teach_without_a_result(tmp_path: Path) -> None:
    branches = tmp_path / "branches"
    words = ["datagen", str(branches), "--games", "40", "--nodes", "50", "--processes", "1"]
    assert cli.main([*words, "--branches", str(SAMPLE)]) == 0
    weights = load_weights("learned")
    found = prepare([SAMPLE, branches], [], "freestyle", weights, tmp_path / "lessons")
    lost = 0
    for each in found:
        unknown = np.isnan(each.result)
        targets = each.targets(0.7)
        assert np.isfinite(targets).all() and (~unknown).any()
        chosen = unknown & each.open
        scale = each.search_scale()
        wanted = 1 / (1 + np.exp(-each.value[chosen].astype(np.float64) / scale))
        assert targets[chosen] == pytest.approx(wanted, abs=1e-4)
        lost += int(chosen.sum())
    assert lost > 3
    run = run_of(found)
    for number, chosen in run.order.epoch(0):
        inputs = run.inputs(number, chosen)
        each = losses(*run.network(inputs), inputs)
        assert all(torch.isfinite(part).all() for part in each)
    only = prepare([branches], [], "freestyle", weights, tmp_path / "only")
    with pytest.raises(OSError, match="no games with a result"):
        only[0].targets(0.7)


def test_a_network_learns_its_games(lessons: list[Lessons], tmp_path: Path) -> None:
    run = run_of(lessons, SETTINGS._replace(steps=60, rate=0.01, widths=Widths()))
    run.go(tmp_path / "some.pt", 20)
    first, last = (run.history[i]["learned"] for i in (0, -1))
    assert last.entropy < first.entropy - 0.2 and last.target < first.target


def test_the_mean_logit_is_drawn_to_nought(lessons: list[Lessons]) -> None:
    run = run_of(lessons)
    inputs = run.inputs(*next(run.order.after(0)))
    logits = run.network(inputs)[1].detach()
    ends = [float(level(logits + offset, inputs)) for offset in (-300, -3, 3, 300)]
    assert ends[0] > 200 and ends[3] > 200
    wanted = losses(inputs.linear, logits, inputs).entropy
    assert torch.allclose(wanted, losses(inputs.linear, logits + 300, inputs).entropy, atol=1e-3)


# Integers -----------------------------------------------------------------------------------


def excited(family: str, seed: int = 7) -> Network:
    """Return a network with numbers large enough that all parts of it matter."""
    torch.manual_seed(seed)
    network = Network(patterns(4 if family == "freestyle" else 5), family != "renju", SMALL, 250.0)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "share" not in name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return network


def integers_of(lessons: list[Lessons], family: str) -> tuple[Run, Trained]:
    run = run_of(lessons, SETTINGS._replace(family=family))
    run.best = excited(family).state_dict()
    return run, Trained(run)


@pytest.mark.parametrize("family", ["freestyle", "standard", "renju"])
def test_integers_say_what_the_real_numbers_say(lessons: list[Lessons], family: str) -> None:
    run, done = integers_of(lessons, family)
    real = run.measured(run.best)
    assert done.score.entropy == pytest.approx(real.entropy, rel=0.01)
    assert done.score.result == pytest.approx(real.result, rel=0.01)
    assert abs(real.entropy - 2.268) > 0.05  # the network does say something
    again = unpack(pack(done.block))
    assert again.sizes == done.block.sizes
    assert len(again.shared["book"]) <= 16384
    for name, numbers in done.block.heads[-1].items():
        assert (again.heads[-1][name] == numbers).all()


@pytest.mark.parametrize("family", ["freestyle", "standard"])
def test_colours_exchanged_are_worth_the_same(lessons: list[Lessons], family: str) -> None:
    run, done = integers_of(lessons, family)
    each = lessons[0]
    board = np.asarray(each.board)
    exchanged = {"board": np.where(board == 3, 3, 3 - board), "side": 1 - each.side}
    swapped = Lessons(**each._asdict() | exchanged)
    other = Source(swapped, np.asarray(each.result), run.known, True)
    chosen = np.arange(0, len(each), 9)
    one, two = (forward(done.block, s.batch(chosen)) for s in (run.sources[0], other))
    assert (one[0] == two[0]).all() and (one[1] == two[1]).all()
    assert one[0].std() > 10


@pytest.mark.parametrize("alike", [False, True])
def test_codes_of_rare_patterns_keep_colours_apart(alike: bool) -> None:
    network = excited("standard")
    if alike:  # all codes are equally near
        torch.nn.init.zeros_(network.maps[0].third.weight)
        torch.nn.init.zeros_(network.maps[0].own)
    known = network.known
    counts = np.zeros(len(known), np.int64)
    counts[::7] = np.arange(len(counts[::7])) + 1
    book = make_codebook(network, counts, 999)
    assert len(book.vectors) in (998, 999)
    assert (book.swap[book.swap] == np.arange(len(book.swap))).all()
    assert (book.codes[known.swapped] == book.swap[book.codes]).all()
    assert alike or len(np.unique(book.codes)) == len(book.vectors)


# The command --------------------------------------------------------------------------------


def command(path: Path, *more: str) -> int:
    words = ["train", str(SAMPLE), "--out", str(path), "--batch", "64", "--steps", "2"]
    return cli.main([*words, "--families", "freestyle,caro", *more])


def test_the_command_writes_a_network_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.numoku"
    assert command(path, "--threads", "1") == 0
    first = path.read_bytes()
    weights = load_weights(str(path))
    assert weights.network(Rule.FREESTYLE) is not None
    assert weights.network(Rule.RENJU) is None
    assert "integers value" in weights.about["network freestyle"]
    learned = load_weights("learned")
    assert all(weights.block(rule) == learned.block(rule) for rule in Rule)
    assert all(weights.scale(rule) == learned.scale(rule) for rule in Rule)
    page = tmp_path / "net.numoku.training" / "freestyle" / "losses.html"
    assert "Cross-entropy of the move" in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert command(path) == 0  # all steps are done
    assert path.read_bytes() == first
    assert command(path, "--steps", "3") == 1
    assert "steps 2, not 3" in capsys.readouterr().err
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--families", "chess"], "chess: there are freestyle"),
        (["--steps", "0"], "take 1 or more"),
        (["--device", "cuda"], "no such device"),
        (["--keep", "renju=hand"], "no such network"),
        (["--test", "nowhere.games"], "cannot read games nowhere.games"),
        (["--start", "nowhere"], "cannot read weights"),
        (["--from", "freestyle"], "it takes FAMILY=WHAT"),
        (["--from", "freestyle=nowhere"], "no such file"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    if "cuda" in more and torch.cuda.is_available():
        pytest.skip("there is one")
    assert command(tmp_path / "net.numoku", *more) == 1
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert not (tmp_path / "net.numoku").exists()


def test_a_missing_torch_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    assert cli.main(["train", "some.games", "--out", "net.numoku"]) == 1
    error = capsys.readouterr().err
    assert "pbrain-numoku[network]" in error and error.count("\n") == 1


def test_an_interrupt_waits_for_the_end_of_a_step() -> None:
    from pbrain_engine.learn.network.command import stoppable

    with stoppable() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
