"""What has been found out about positions, kept: a database, books, and their commands."""
