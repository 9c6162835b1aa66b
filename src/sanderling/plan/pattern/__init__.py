"""REGISTER PATTERN, checked: its steps, what links them, and how long each is waited for."""
