"""Training of the network: from recorded games to the block of a weight file."""

TEACHER_SHARE = 0.75  # of the targets: what a teacher says, if nothing else is asked for
