"""Home: the sessions of this machine as a list, and the bars above and below it."""
