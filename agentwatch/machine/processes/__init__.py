"""The processes of the known agents, and which session each of them belongs to.

Only processes of the own user are considered. Nothing here sends a signal.
"""
