"""NATS JetStream as an engine, by the client nats-py. Its event loop and its types stay in this folder."""
