"""The rules that the user writes: which calls they select, what is forbidden, and when to ring."""
