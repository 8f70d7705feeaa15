"""What is kept of a match: its journal, and its games in other programs' formats."""
