"""`sanderling demo`: a simulated city, live, and queries of every kind over it."""
