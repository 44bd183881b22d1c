"""The rows of the list, in groups and in a stable order: what is shown, what is folded and what is hidden."""
