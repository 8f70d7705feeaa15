"""Line patterns: shapes, tables and the incremental shape state."""
