"""A real nats-server for tests, and a proxy that breaks connections to it."""
