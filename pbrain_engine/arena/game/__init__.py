"""One game: its players as the referee sees them, its clock, its moves and its end."""
