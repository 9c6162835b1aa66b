"""State to bytes and back, with a format version: a snapshot now and then, deltas in between."""
