"""File formats of games: SGF, PSQ, RenLib, RIF and others, journals and self-play files."""
