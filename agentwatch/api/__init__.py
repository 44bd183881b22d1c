"""The functions of the Python API: they read a saved session as events, as a whole, or as its summary.

`agentwatch` exports them, with the types that they return. This room imports neither the command line nor the
screen.
"""
