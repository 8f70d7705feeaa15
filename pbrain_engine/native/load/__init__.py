"""Finding, choosing and loading compiled kernels, and their memory: standard library only."""
