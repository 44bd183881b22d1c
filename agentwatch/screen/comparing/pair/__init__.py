"""The detail of a pair of calls: their facts, and their arguments and results line by line."""
