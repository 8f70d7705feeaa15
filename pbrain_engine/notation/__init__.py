"""How positions and games are written: cells, diagrams, SGF and PSQ files."""
