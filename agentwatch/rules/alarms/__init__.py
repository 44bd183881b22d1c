"""Tripwires: alarms, not a sandbox. When a rule sees a call, its command may already run."""
