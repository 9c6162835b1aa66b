"""A plan that lives: queries and tables change while the stream runs; each call gives the next version."""
