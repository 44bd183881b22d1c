"""The process of a started agent: its output, its CPU use, and the processes that it leaves behind.

It has one of two outputs. `relayed` puts a relay between the agent and the files, `direct` gives the files to
the agent.
"""
