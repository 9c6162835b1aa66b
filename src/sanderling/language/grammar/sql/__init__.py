"""Of SQL itself: WITH, set operations, words of other systems, and what is refused."""
