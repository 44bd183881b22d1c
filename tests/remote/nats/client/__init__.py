"""Tests of the client for NATS, also against hostile servers and publishers."""
