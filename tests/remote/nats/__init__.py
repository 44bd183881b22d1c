"""Tests of NATS JetStream as an engine, with a real server."""
