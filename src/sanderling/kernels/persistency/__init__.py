"""Of PERSISTENCY: how long each key has been there."""
