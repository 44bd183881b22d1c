"""A large recording shown by its two ends while the rest is read, and then as a whole in their place."""
