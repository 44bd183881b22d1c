"""Tests of agentwatch/engine/nats/client/."""
