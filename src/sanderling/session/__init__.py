"""A running pipeline as a Python object: register, drop, ask and subscribe while the stream runs."""
