"""All faults, by the part of the code that they are in."""

from __future__ import annotations

from . import kernels, newest, parts
from .fault import Fault

FAULTS: list[Fault] = [*kernels.FAULTS, *parts.FAULTS, *newest.FAULTS]
