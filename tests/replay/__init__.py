"""Recording the engine's calls of its kernel, and replaying them on another library."""
