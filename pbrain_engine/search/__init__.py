"""The searches of the kernel: by threats, and alpha-beta."""
