"""Forced wins: searches by fours and by threats on the compiled kernel, and their proofs."""
