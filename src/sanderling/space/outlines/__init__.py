"""Coverages that four numbers cannot say, as bytes: a law, and numbers.

outline.py      how they are written: polygons, lines, bands, spots, exteriors; globe.py: of the globe
laws.py         who is in one, by its law; line.py and globe_line.py: sides of lines, and nearness to them
polygons.py     outlines of many regions; raster.py settles most places without GEOS
"""
