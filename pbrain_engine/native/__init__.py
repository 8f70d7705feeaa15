"""The compiled kernel: what it exports, how it is built, chosen and loaded."""
