"""Where the bytes of a session come from: a saved file, a pipe, or an agent that agentwatch starts.

It may import `recording`, `events`, `faults` and `agent_facts`; what the bytes mean is decided elsewhere.
"""
