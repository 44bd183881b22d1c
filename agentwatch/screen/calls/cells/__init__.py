"""The contents of the cells of the calls table: names, targets, results and time strips."""
