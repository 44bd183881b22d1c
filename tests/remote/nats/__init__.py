"""Tests of agentwatch/engine/nats/, with a real server."""
