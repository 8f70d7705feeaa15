"""Write the golden trees of the present code; ``git diff tests/golden`` shows what has changed."""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # the trees are recorded from kernels as plain Python

from tests.golden.trees import FILES  # noqa: E402

for path, make in FILES.items():
    text = make()
    path.write_text(text, encoding="utf-8")
    print(f"{path.name}: {len(text.splitlines())} lines")
