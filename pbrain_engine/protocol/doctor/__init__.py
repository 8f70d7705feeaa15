"""``numoku check``: an examination of any pbrain, client by client and fault by fault."""
