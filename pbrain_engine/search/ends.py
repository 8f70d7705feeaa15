"""Values of forced ends, for kernels: the formulas of ``values.py``, compiled."""

from __future__ import annotations

from .. import values
from ..kernel import kernel

win_in = kernel(values.win_in)
loss_in = kernel(values.loss_in)
