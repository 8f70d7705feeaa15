"""The sub-commands of ``numoku`` that are about one engine: each module has a ``main``."""
