"""Of readings: those of an object one after the other (chain), and closed ticks to moves (fold)."""
