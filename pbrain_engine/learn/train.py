"""``numoku train``: learn a network from games and add it to the linear weights of a file.

A run keeps its files in a folder next to the weight file: a checkpoint for each family and pages
of losses. The same command resumes it.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, WeightsError, counted, say
from ..eval.weights import FAMILIES, SCALE, Weights, load_weights, weights_file, write_weights
from ..files import check_target, in_place_of, user_path, write_whole
from ..notation.games import LABELS, read_about
from ..options import SHARED, CommandLine, Option, list_of, positive, share
from ..options import number as real
from ..pages import Curve, html_document, html_table, line_chart
from ..position.rules import Rule
from ..progress import Progress
from .measure import judge
from .network.dataset import log_loss, read_datasets
from .network.learner import VECTOR_LIMIT
from .network.quantise import NetworkBlock, make_codebook, pack, quantise, unpack
from .network.training import Run, Score, Tally, TrainingSettings, held_out

STEPS = 8000
EVERY = 200  # steps between two checkpoints
FEWEST = 16  # least positions for training, and for holding out
LOOKED_AT = 32  # batches to find the ranges of the layers and count patterns
COMPARED = 20_000  # held-out positions to compare integers with real numbers
REPORT_SECONDS = 10.0
TITLES = {
    "target": "Loss of the value",
    "result": "Loss of the value, on results alone",
    "entropy": "Cross-entropy of the move",
    "first": "First move right",
}


def family_name(text: str) -> str:
    """Return the name of a family; ValueError if there is no such family."""
    if text not in FAMILIES:
        raise ValueError(f"{text!r} is not a family: {', '.join(FAMILIES)}")
    return text


COMMAND = CommandLine(
    "numoku train",
    "Learn a network from the games of `numoku datagen` and write a weight file with it. The same "
    "command continues an interrupted training.",
    (
        Option("files", user_path, None, "GAMES", "files of games", {"nargs": "+"}),
        Option("--out", user_path, None, "FILE", "the weight file to write", {"required": True}),
        Option("--id", metavar="NAME", about="name of the weights (the file's name)"),
        Option("--folder", user_path, None, "FOLDER", "for checkpoints and pages (FILE.training)"),
        Option("--start", str, "learned", "W", "linear weights to build on"),
        Option("--test", user_path, [], "GAMES", "files to hold out", {"nargs": "+"}),
        Option("--families", list_of(family_name), ",".join(FAMILIES), "F,...", "which to train"),
        Option("--keep", str, [], "FAMILY=W", "take a family's network unchanged from weights W",
               {"action": "append"}),
        Option("--from", str, [], "[FAMILY=]W[@FAMILY]",
               "start from the network in weights W of the family after @, else of the same "
               "family, else of freestyle", {"action": "append", "dest": "begin"}),
        Option("--steps", positive, STEPS, "N", "batches to learn"),
        Option("--batch", positive, 4096, "N", "positions in a batch"),
        Option("--rate", real, 3e-3, "R", "learning rate at the start"),
        Option("--mix", share, 0.7, "MIX", "weight of later positions and result in the targets"),
        Option("--labels", LABELS, LABELS[0], None,
               "fair: also learn the value of forced wins; open: do not"),
        SHARED["seed"]._replace(about="of the first weights and the order"),
        Option("--every", positive, EVERY, "N", "steps between checkpoints"),
        SHARED["threads"]._replace(about="of the processor"),
    ),
)  # fmt: skip


def name_of(out: Path, name: str | None) -> str:
    """Return the name of the weights to be written, and create their folder.

    FileError if weights with this name or file could not be loaded.
    """
    name = name or out.stem
    if not name.isascii() or not name.isprintable():
        raise FileError(f"weights cannot be called {name!r}; --id takes a name in ASCII")
    if weights_file(str(out)) != str(out):
        raise FileError(f"--out {out}: built-in weights have this name")
    out.parent.mkdir(parents=True, exist_ok=True)
    return name


def by_family_named(words: Iterable[str], option: str) -> dict[str, str]:
    """Return the files of FAMILY=FILE options by family; FileError if one is invalid."""
    found = {}
    for word in words:
        family, _, what = word.partition("=")
        if not what or family not in FAMILIES:
            raise FileError(f"{option} {word}: it takes FAMILY=FILE, one of {', '.join(FAMILIES)}")
        found[family] = what
    return found


def begin_of(options: argparse.Namespace, family: str) -> tuple[str, NetworkBlock | None]:
    """Return the name and the network that a family's training starts from, if any.

    FileError if an option is invalid, WeightsError if the file has no such network.
    """
    single = [word for word in options.begin if word.partition("=")[0] not in FAMILIES]
    if len(single) > 1:
        raise FileError(f"--from {single[1]}: there can be one file, or FAMILY=FILE")
    named = by_family_named([word for word in options.begin if word not in single], "--from")
    name = named.get(family, *single[:1]) if single else named.get(family)
    if name is None:
        return "", None
    file, _, other = name.rpartition("@")
    chosen = [other] if file and other in FAMILIES else [*{family: 0, "freestyle": 0}]
    weights = load_weights(file if chosen == [other] else name)
    for which in chosen:
        raw = weights.network(Rule.parse(which))
        if raw is not None:
            return f"{weights.key} {which}", unpack(raw)
    raise WeightsError(f"--from {name}: it has no network for {' or '.join(chosen)}")


def show_reading() -> Callable[[int], None]:
    """Return a function that reports the positions read, now and then, on stderr."""
    shown = time.perf_counter()

    def show(positions: int) -> None:
        nonlocal shown
        if time.perf_counter() - shown >= REPORT_SECONDS:
            shown = time.perf_counter()
            print(f"{counted(positions, 'position')} read", file=sys.stderr, flush=True)

    return show


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Delay an interrupt to the end of a step; yield a function that tells if there was one.

    A second interrupt stops at once.
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


def best_network(run: Run) -> NetworkBlock:
    """Return the best network of a run, quantised; ValueError if numbers are too large."""
    known, learner = run.layout.known, run.learner
    counts = np.zeros(len(known), np.int64)
    learner.peaks[:] = 0
    for (number, chosen), _ in zip(run.order.epoch(0), range(LOOKED_AT), strict=False):
        batch = run.batch(number, chosen)
        area = batch.positions.height * batch.positions.width
        cells = np.arange(area) < batch.counts[:, None]
        codes = batch.codes.reshape(len(chosen), area, 4)
        for side, (first, last) in enumerate(batch.sides):
            seen = codes[first:last][cells[first:last]].ravel()
            found = np.bincount(seen, minlength=len(known))
            counts += found[known.swapped] if side else found
        learner.measure(run.best, batch)
    maps = [
        each.clip(-VECTOR_LIMIT, VECTOR_LIMIT).astype(np.float64)
        for each in learner.vectors(run.best, np.arange(len(known)))
    ]
    codebook = make_codebook(maps, known, counts)
    return quantise(run.layout, run.best, learner.peaks, codebook, run.scale)


def compare_with_engine(run: Run, weights: Weights) -> tuple[Score, str]:
    """Return the losses of the engine on held-out positions, and its rounding errors as text."""
    tally = Tally()
    values, logits = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    for number, chosen in held_out(run.datasets, run.settings.batch, COMPARED):
        dataset = run.datasets[number]
        batch = run.batch(number, chosen)
        said = run.learner.measure(run.best, batch)
        value, logit = judge(weights, run.settings.family, dataset, chosen)
        counts = dataset.candidates(chosen)
        place = np.argsort(batch.chosen)  # of each chosen position in the batch
        rows = said.logits.reshape(len(chosen), -1)[place]
        wanted = rows[np.arange(rows.shape[1]) < counts[:, None]]
        values.append(np.abs(value - said.odds[place] * run.scale))
        logits.append(np.abs(logit - wanted))
        losses = np.full((4, len(chosen)), np.nan)
        opens = np.flatnonzero(dataset.opens[chosen])
        for loss, outcome in zip(losses, (dataset.target, dataset.results), strict=False):
            loss[opens] = log_loss(value[opens] / run.scale, outcome[chosen[opens]])
        choices = dataset.choices(chosen, logit)
        losses[2, choices.positions] = choices.entropies()
        losses[3, choices.positions] = choices.firsts()
        tally.add(list(losses))
    value_off, logit_off = np.concatenate(values), np.concatenate(logits)
    return tally.score(), (
        f"value off by {value_off.mean():.2f} (at most {value_off.max():.1f}), "
        f"logit by {logit_off.mean():.4f} (at most {logit_off.max():.2f})"
    )


def write_page(path: Path, title: str, history: Sequence[Mapping[str, Any]], start: Score) -> None:
    """Write the page of a run; ``start``: the losses of the linear evaluation."""
    figures = []
    for place, (name, caption) in enumerate(TITLES.items()):
        lines = []
        for part, words, style in (("learned", "learned from", "a"), ("held", "held out", "b")):
            points = [(float(each["step"]), float(each[part][place])) for each in history]
            points = [point for point in points if not math.isnan(point[1])]
            if points:
                lines.append(Curve(words, points, style))
        if lines:
            ends = [point[0] for line in lines for point in line.points]
            level = float(getattr(start, name))
            lines.append(Curve("linear", [(min(ends), level), (max(ends), level)], "c"))
            figures.append(line_chart(caption, "steps", caption, lines))
    rows = [["", *TITLES.values()]]
    held = {"linear": start} | ({"network": history[-1]["held"]} if history else {})
    for name, score in held.items():
        rows.append([f"{name}, held out", *(f"{number:.4f}" for number in score)])
    charts = f'<div class="charts">{"".join(figures)}</div>'
    body = f"<h1>{escape(title)}</h1>\n{charts}\n{html_table(rows)}"
    write_whole(path, html_document(title, body))


def train_family(
    family: str, options: argparse.Namespace, weights: Weights, folder: Path
) -> tuple[bytes, str] | None:
    """Train or resume; return the block and a description, or None without enough games."""
    datasets = read_datasets(
        options.files, options.test, family, weights, show_reading(), options.threads
    )
    held = sum(int(dataset.held.sum()) for dataset in datasets)
    if min(held, sum(dataset.size for dataset in datasets) - held) < FEWEST:
        return None
    name, start = begin_of(options, family)
    settings = TrainingSettings(
        family, options.steps, options.batch, options.rate, options.mix, options.labels,
        options.seed, options.threads, begin=name,
    )  # fmt: skip
    run = Run(settings, datasets, weights, start)
    line = run.linear()
    print(f"{family}: {counted(run.order.positions, 'position')}, linear: {line}", flush=True)
    if start is not None:
        print(f"{family}: begins at {name}: {run.evaluate(run.best)}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = folder / "checkpoint.npz"
    if checkpoint.exists():
        run.resume(checkpoint)

    progress = Progress(options.steps, f"steps of {family}", run.step)

    def watch(learned: Score, held: Score, speed: float) -> None:
        progress.done = run.step
        progress.show(f"learned: {learned}; held out: {held}; {speed:,.0f} positions/s", last=True)
        write_page(folder / "losses.html", f"Network for {family}", run.history, line)

    with stoppable() as stopped:
        speed = run.go(checkpoint, options.every, watch, stopped)
    block = best_network(run)
    raw = pack(block)
    about = {**weights.about, "crc32": f"{zlib.crc32(raw):08x} {family}"}
    streams = {family: memoryview(zlib.compress(raw, 1))}  # as the kernel takes it
    checked = weights._replace(about=about, streams=streams)
    integers, differences = compare_with_engine(run, checked)
    text = (
        f"{run.order.positions} positions, {settings.steps} steps of {settings.batch}; "
        f"linear {line}; network {run.evaluate(run.best)}; integers {integers}; {differences}"
    )
    print(f"{family}: " + text.replace("; ", "\n  "), flush=True)
    print(f"{family}: {speed:,.0f} positions/s", flush=True)
    return raw, text


def main(arguments: Sequence[str]) -> int:
    """Train networks and write the weight file; return 0. FileError if an input is invalid."""
    options = COMMAND.parse(arguments)
    sources = {path: read_about(path) for path in (*options.files, *options.test)}
    families = options.families
    for family in families:  # errors before anything is written
        begin_of(options, family)
    weights = load_weights(options.start)
    folder = options.folder or options.out.parent / f"{options.out.name}.training"
    about = {
        "id": name_of(options.out, options.id),
        "made": f"numoku train --steps {options.steps} --batch {options.batch} "
        f"--rate {options.rate:g} --mix {options.mix:g} --labels {options.labels} "
        f"--seed {options.seed}",
        "start": weights.key,
    }
    check_target(options.out, (*options.files, *options.test))
    about |= {key: each for key, each in weights.about.items() if key.startswith(f"{SCALE} ")}
    for number, path in enumerate((*options.files, *options.test), 1):
        kind = "test" if number > len(options.files) else "games"
        about[f"{kind} {number}"] = ", ".join(f"{k} {v}" for k, v in sources[path].items())
    networks = {}
    for family, name in by_family_named(options.keep, "--keep").items():
        kept = load_weights(name)
        block = kept.network(Rule.parse(family))
        if block is None:
            raise WeightsError(f"--keep {family}={name}: there is no such network")
        networks[family], about[f"network {family}"] = block, f"as in {kept.key}"
    for family in families:
        if family not in networks:
            found = train_family(family, options, weights, folder / family)
            if found is not None:
                networks[family], about[f"network {family}"] = found
    if not set(networks) & set(families):
        raise FileError("there are not enough games to learn from")
    with in_place_of(options.out) as part:
        write_weights(str(part), about, weights.blocks, networks)
        load_weights(str(part))
    say(f"{options.out} written")
    return 0
