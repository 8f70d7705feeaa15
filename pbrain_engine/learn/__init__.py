"""Learning the weights of the evaluation from self-play."""
