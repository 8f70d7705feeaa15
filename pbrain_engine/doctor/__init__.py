"""``numoku check``: examinations of any program that speaks the protocol."""
