"""Of INSIDE: a grid over regions, who crossed a border (cross), regions that follow an object (follow)."""
