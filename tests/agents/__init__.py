"""Tests of the decoders: a folder for each agent, and modules for the parts that all agents share."""
