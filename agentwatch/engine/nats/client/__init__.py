"""The client nats-py, guarded: nothing is sent before TLS is up, and messages arrive as bytes."""
