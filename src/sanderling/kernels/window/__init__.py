"""Of WINDOW: which reading follows which, and which one ends the time of which."""
