"""A board in the browser: a local server around the engine, and its page."""
