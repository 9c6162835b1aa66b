"""The last rows of each tile."""
