"""Tripwires: rules that watch a session while it grows, and act when a call or the run hits them.

A tripwire is an alarm, not a sandbox. A rule sees a call when the stream announces it, and the command of the
call may already run then.
"""
