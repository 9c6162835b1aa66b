"""Of kNN: points by cell, the nearest of a place, whom a change concerns (influence), which k to choose, what
moments change."""
