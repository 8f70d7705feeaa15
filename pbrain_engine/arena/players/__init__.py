"""Players: programs behind pipes, the engine inside this process, and what keeps them in order."""
