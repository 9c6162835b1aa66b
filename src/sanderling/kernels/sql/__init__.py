"""Of relational operators: partners of a join, sums that are exact, rows in an order, counts by step."""
