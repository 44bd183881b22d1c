"""Publishing: the shipper with an engine in memory that misbehaves, and with a real server."""
