"""What the turns of a run consist of: the assistant's text, and the result of each turn."""
