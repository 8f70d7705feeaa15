"""Random faults: which of them the tests notice (``make mutants``)."""
