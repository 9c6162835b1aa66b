"""What names mean: in FROM (sides), behind NEXT (nexts), in a trigger (variables)."""
