"""How the stream is doing: the last ticks (pulse.py), letters.py, Prometheus (metrics.py)."""
