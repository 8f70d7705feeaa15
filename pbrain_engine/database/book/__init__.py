"""Opening books: grown by search, kept in a database, played from."""
