"""Factory's Droid: the stream of `droid exec --output-format stream-json`. It is not verified against a real
capture: the lines are those that others have published for droid 0.32 to 0.116."""
