"""What the formats of files on disk share that agents write for themselves: times, facts, a tree of lines."""
