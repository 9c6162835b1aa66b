"""WINDOW, and windows in brackets behind a stream, NEARBY among them."""
