"""How a match is shown: live in a terminal, as text, as a page."""
