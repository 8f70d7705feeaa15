"""``numoku check``: tests of any program that speaks the protocol."""
