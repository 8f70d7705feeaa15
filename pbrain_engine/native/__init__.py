"""The compiled kernel: its exports, and how it is built, chosen and loaded."""
