"""Moving objects that report like real ones; seeded: the same seed gives the same city."""
