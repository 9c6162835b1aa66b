"""What is done so that a start is quick: Java's classes are kept (archive)."""
