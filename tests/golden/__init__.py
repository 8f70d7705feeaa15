"""Golden trees: what small searches look at, node by node, as text that people can read.

``python -m tests.golden`` makes them anew. A change of the search changes them, and the
difference shows where it began: a window, a depth, a value, a move that is not tried any more.
"""
