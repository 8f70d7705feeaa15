"""What a line of cells means: shapes, tables and the incremental shape state."""
