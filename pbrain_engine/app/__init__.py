"""Code shared by the command line and the board."""
