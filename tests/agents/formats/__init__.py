"""What holds for every format: no input raises, every line is counted, and nothing is invented."""
