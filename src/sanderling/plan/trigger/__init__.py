"""CREATE TRIGGER, checked: WHEN taken apart (constraints, times), branches for shards, the search above."""
