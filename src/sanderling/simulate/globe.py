"""A network in metres, put on the globe: its middle lies at a place, and every road keeps its way from there.

From the middle each place is as far, and in the same direction, as on the plane. So a town can lie anywhere,
on the 180th meridian or at a pole; only far from its middle are roads a little shorter or longer.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.errors import ConfigError

EARTH_M = 6_371_008.8

At = tuple[float, float]  # longitude, latitude


def at_of(said: str) -> At:
    """A place as the command takes it."""
    try:
        lon, lat = (float(part) for part in said.split(","))
    except ValueError:
        lon = lat = np.nan
    # Written so that NaN, which is neither below nor above, is refused too.
    if not (-180 <= lon <= 180 and -90 <= lat <= 90):
        raise ConfigError(
            "config.bad_option",
            f'--at "{said}" is not a place on the globe',
            "a longitude from -180 to 180 and a latitude from -90 to 90, such as 8.2,53.1",
        )
    return lon, lat


def on_globe(x: F64, y: F64, at: At) -> tuple[F64, F64]:
    """Longitudes and latitudes of places so many metres east and north of one."""
    lon, lat = np.radians(at[0]), np.radians(at[1])
    away, bearing = np.hypot(x, y) / EARTH_M, np.arctan2(x, y)
    up = np.sin(lat) * np.cos(away) + np.cos(lat) * np.sin(away) * np.cos(bearing)
    north = np.arcsin(np.clip(up, -1.0, 1.0))
    east = lon + np.arctan2(
        np.sin(bearing) * np.sin(away) * np.cos(lat), np.cos(away) - np.sin(lat) * np.sin(north)
    )
    # From -180 to 180, where a turn more or less is the same place.
    return (np.degrees(east) + 540) % 360 - 180, np.degrees(north)
