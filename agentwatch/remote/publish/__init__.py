"""The shipper: a process of its own that copies a recording to an engine while it grows."""
