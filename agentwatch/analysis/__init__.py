"""Evaluates a session: integrity, silence, status, loops, files, time breakdown and search.

This folder knows no agent and no screen.
"""
