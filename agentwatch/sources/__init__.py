"""The sources of a session's bytes: a saved file, a pipe, a store, or an agent that agentwatch starts. They
write the recording, and do not interpret the bytes.
"""
