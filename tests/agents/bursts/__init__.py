"""Many short lines that are read at once give the same events as one line after the other."""
