"""Tests of agentwatch/redaction/secrets: what is found, what is not, and how long it takes."""
