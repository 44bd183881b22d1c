"""The shipper: a process of its own that copies a recording to an engine while it grows.

It reads the recording, and shares nothing with the agent or with the process that records.
"""
