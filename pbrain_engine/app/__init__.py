"""What the command line and the board share."""
