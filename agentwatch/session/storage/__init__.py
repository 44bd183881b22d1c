"""Storage that grows little per item: texts and packed items in an unlinked file, numbers in arrays."""
