"""The sub-commands of ``numoku`` that are about matches: each module has a ``main``."""
