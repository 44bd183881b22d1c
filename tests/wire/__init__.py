"""The tests of the wire: one module for each agent, one for what holds for all."""
