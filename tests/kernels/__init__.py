"""Unit tests of the kernels as plain Python: every part by itself, in milliseconds."""
