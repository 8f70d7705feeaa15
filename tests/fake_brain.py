"""The real loop with a fake engine, as a program: ``fake_brain.py [faults...]``.

With a fault ``once`` only the first engine misbehaves, and its replacement is sound.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent)]

from pbrain_engine.eval.weights import WeightsError  # noqa: E402
from pbrain_engine.native.load.library import KernelError  # noqa: E402
from pbrain_engine.protocol.loop import Loop  # noqa: E402
from pbrain_engine.protocol.serve import redirect_errors  # noqa: E402
from tests.fake_engine import FakeEngine  # noqa: E402

FAULTS = set(sys.argv[1:])
MADE: list[FakeEngine] = []


def make(memory: int) -> FakeEngine:
    if "nokernel" in FAULTS:
        raise KernelError("no kernel\nfor this machine; run `make setup`")
    if "noweights" in FAULTS:
        raise WeightsError("learned.numoku is damaged")
    faults = () if MADE and "once" in FAULTS else FAULTS
    MADE.append(FakeEngine(memory, faults))
    return MADE[-1]


if __name__ == "__main__":
    redirect_errors(None)
    Loop(make).run()  # type: ignore[arg-type]
