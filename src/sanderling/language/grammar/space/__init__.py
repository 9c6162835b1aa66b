"""Regions as they are written: coverages, lines, how they move and swell, units of distance."""
