"""The Gomocup protocol: commands, replies, the session and its loop."""
