"""The texts of a recording: which parts of its lines are read together, and where each character lies."""
