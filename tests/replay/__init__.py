"""Recording what the engine asks of its kernel, and replaying it on another library."""
