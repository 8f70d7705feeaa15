"""What every page for a browser is made of: documents, styles, charts."""
