"""Checked queries to a plan: templates get numbers, regions and seekers of the nearest become columns."""
