"""Learning a network from games, beside the linear weights of a file.

Everything that a run leaves lies in one folder beside the weight file: prepared positions,
a checkpoint for each family, pages of losses. The same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ...eval.weights import FAMILIES, Weights, WeightsError, load_weights, write_weights
from ...position.rules import Rule
from ..fit import Start, source, told_scale
from ..output import name_of, put
from ..records import GamesError
from .batches import held_out
from .codebook import make_codebook
from .lessons import prepare
from .model import SCORE_SCALE, Network, losses
from .page import write_page
from .quantise import look, quantise
from .reference import LOGIT_UNIT, Block, forward, pack
from .training import Moment, Run, Score, Settings, Tally

EVERY = 200  # steps between two checkpoints
FEWEST = 16  # positions, learned from or held out, that are worth a training
LOOKED_AT = 64  # batches by which the ranges of the layers are found
COMPARED = 20_000  # held-out positions on which integers and real numbers are compared
REPORT_SECONDS = 10.0
TEACHER_RATE = 2e-3  # learning rate of a teacher at the start
COUNTED = 100  # batches in which patterns are counted


def check(options: argparse.Namespace) -> list[str]:
    """Return the families to train.

    Raises:
        GamesError: an option makes no sense, or a file is missing.
    """
    families: list[str] = options.families.split(",")
    unknown = [family for family in families if family not in FAMILIES]
    if unknown:
        raise GamesError(f"--families {unknown[0]}: there are {', '.join(FAMILIES)}")
    counts = options.steps, options.batch, options.threads, options.processes, options.teacher_steps
    if min(counts) < 1:
        raise GamesError("--steps, --batch, --threads and --processes take 1 or more")
    if not 0 <= options.mix <= 1 or not 0 <= options.teacher_share <= 1:
        raise GamesError("--mix and --teacher-share take 0 to 1")
    for path in (*options.files, *options.test):
        source(path)  # reads the head
    for family, name in pairs(options.begin, "--from"):
        if family not in FAMILIES or not Path(name).is_file():
            raise GamesError(f"--from {family}={name}: there is no such family or no such file")
    if options.device not in (None, "cpu") and not torch.cuda.is_available():
        raise GamesError(f"--device {options.device}: torch finds no such device")
    return families


def pairs(words: list[str], option: str) -> list[tuple[str, str]]:
    """Return what an option of the form NAME=WHAT was given.

    Raises:
        GamesError: an equals sign is missing.
    """
    split = [word.partition("=") for word in words]
    for name, sign, _ in split:
        if not sign:
            raise GamesError(f"{option} {name}: it takes FAMILY=WHAT")
    return [(name, what) for name, _, what in split]


class Progress:
    """Lines on stderr about how far a training is."""

    def __init__(self) -> None:
        """Begin now."""
        self._shown = time.perf_counter()

    def prepared(self, positions: int) -> None:
        """Tell now and then how many positions there are."""
        now = time.perf_counter()
        if now - self._shown >= REPORT_SECONDS:
            self._shown = now
            print(f"{positions:,} positions prepared", file=sys.stderr, flush=True)

    def learned(self, family: str, moment: Moment) -> None:
        """Tell about a checkpoint."""
        print(
            f"{family}: step {moment.step:,} of {moment.steps:,}, held out: {moment.held}; "
            f"{moment.positions:,.0f} positions/s, {moment.seconds_left:,.0f} s left",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Let an interrupt wait for the end of a step; the function given says whether there was one.

    A second one stops at once.
    """
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


class Trained:
    """What came out for one family."""

    def __init__(self, run: Run) -> None:
        """Quantise the best network of a run, and compare the integers with it."""
        assert isinstance(run.network, Network)
        run.network.load_state_dict(run.best)
        chosen = [
            (number, positions)
            for (number, positions), _ in zip(run.order.epoch(0), range(COUNTED), strict=False)
        ]
        batches = [run.sources[number].batch(positions) for number, positions in chosen]
        counts = np.zeros(len(run.known) + 1, np.int64)
        for batch in batches:
            counts += np.bincount(batch.patterns.ravel(), minlength=len(counts))
        inputs = [run.inputs(number, positions) for number, positions in chosen[:LOOKED_AT]]
        codes = make_codebook(run.network, counts[:-1])
        self.block = quantise(run.network, look(run.network, inputs), codes)
        self.score, self.differences = compare(run, self.block)


def compare(run: Run, block: Block) -> tuple[Score, str]:
    """Return the losses of the integers on held-out positions, and how far they are off."""
    tally = Tally()
    values, logits = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    for number, chosen in held_out(run.sources, run.settings.batch, COMPARED, run.settings.tied):
        batch = run.sources[number].batch(chosen)
        inputs = run.inputs(number, chosen)
        value, logit = forward(block, batch)
        with torch.no_grad():
            odds, wanted = (each.cpu().double().numpy() for each in run.network(inputs))
        values.append(np.abs(value - odds * run.scale))
        logits.append(np.abs(logit / LOGIT_UNIT - wanted))
        said = torch.from_numpy(value / run.scale).float().to(run.device)
        ranked = torch.from_numpy(logit / LOGIT_UNIT).float().to(run.device)
        tally.add(losses(said, ranked, inputs))
    value_off, logit_off = np.concatenate(values), np.concatenate(logits)
    return tally.score(), (
        f"value off by {value_off.mean():.2f} (at most {value_off.max():.1f}), "
        f"logit by {logit_off.mean():.4f} (at most {logit_off.max():.2f})"
    )


def linear_score(run: Run) -> Score:
    """Return the losses of the linear evaluation and move score on the held-out positions."""
    tally = Tally()
    for number, chosen in held_out(run.sources, run.settings.batch, 1 << 62, run.settings.tied):
        inputs = run.inputs(number, chosen)
        odds = inputs.linear / run.scale
        tally.add(losses(odds, inputs.scores / SCORE_SCALE, inputs))
    return tally.score()


def trained(
    run: Run, checkpoint: Path, name: str, progress: Progress, start: Score | None = None
) -> Score:
    """Train to the end, or go on; return the losses of what did best on held-out positions."""
    if checkpoint.exists():
        run.resume(checkpoint)
    page = checkpoint.with_name("losses.html" if start else "teacher.html")
    held = start or linear_score(run)

    def watch(moment: Moment) -> None:
        progress.learned(name, moment)
        write_page(page, f"Network for {run.settings.family}", run.history, held)

    with stoppable() as stopped:
        run.go(checkpoint, EVERY, watch, stopped)
    return run.measured(run.best)


def train_family(
    family: str, options: argparse.Namespace, weights: Weights, folder: Path
) -> tuple[bytes, str] | None:
    """Train, or go on; return the block and what to tell about it, or None without games."""
    progress = Progress()
    lessons = prepare(
        options.files, options.test, family, weights, folder / "positions", progress.prepared,
        options.processes,
    )  # fmt: skip
    held = sum(int(each.held.sum()) for each in lessons)
    if min(held, sum(map(len, lessons)) - held) < FEWEST:
        return None
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    settings = Settings(
        family, options.steps, options.batch, options.rate, options.mix, seed=options.seed,
        begin=dict(pairs(options.begin, "--from")).get(family, ""),
    )  # fmt: skip
    if options.teacher:
        size = settings._replace(
            steps=options.teacher_steps, rate=TEACHER_RATE, begin="", size=options.teacher
        )
        teacher = folder / "teacher.pt"
        score = trained(Run(size, lessons, weights, device), teacher, "teacher", progress)
        print(f"{family}: teacher {score}", flush=True)
        settings = settings._replace(teacher=str(teacher), teacher_share=options.teacher_share)
    run = Run(settings, lessons, weights, device)
    start = linear_score(run)
    print(f"{family}: {run.order.positions:,} positions, linear: {start}", flush=True)
    score = trained(run, folder / "checkpoint.pt", family, progress, start)
    done = Trained(run)
    text = (
        f"{run.order.positions} positions, {settings.steps} steps of {settings.batch}; "
        f"linear {start}; network {score}; "
        f"integers {done.score}; {done.differences}"
    )
    print(f"{family}: " + text.replace("; ", "\n  "), flush=True)
    return pack(done.block), text


def main(options: argparse.Namespace) -> int:
    """Train as the options of ``numoku train`` say, and write; return 0."""
    families = check(options)
    weights = load_weights(options.start)
    torch.set_num_threads(options.threads)
    folder = options.folder or options.out.with_name(options.out.name + ".training")
    about = {
        "id": name_of(options.out, options.id),
        "made": f"numoku train --steps {options.steps} --batch {options.batch} "
        f"--rate {options.rate:g} --mix {options.mix:g} --seed {options.seed}",
        "start": weights.key,
    }
    for family in FAMILIES:
        about |= told_scale(weights, family)
    for number, path in enumerate((*options.files, *options.test), 1):
        about[f"{'test' if number > len(options.files) else 'games'} {number}"] = source(path)
    networks = {}
    for family, name in pairs(options.keep, "--keep"):
        kept = load_weights(name)
        block = kept.network(Rule.parse(family)) if family in FAMILIES else None
        if block is None:
            raise WeightsError(f"--keep {family}={name}: there is no such network")
        networks[family], about[f"network {family}"] = block, f"as in {kept.key}"
    for family in families:
        if family not in networks:
            found = train_family(family, options, weights, folder / family)
            if found is not None:
                networks[family], about[f"network {family}"] = found
    if not networks:
        raise GamesError("there are not enough games to learn from")
    blocks = {
        family: Start.of(weights.blocks[family], symmetric=False).block() for family in FAMILIES
    }
    put(options.out, lambda path: write_weights(path, about, blocks, networks))
    print(f"{options.out} written")
    return 0
