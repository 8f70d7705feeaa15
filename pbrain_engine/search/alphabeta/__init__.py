"""The main search: principal variation search, its table, ordering, margins and leaves."""
