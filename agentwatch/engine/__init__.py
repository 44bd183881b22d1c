"""Sessions of other machines on an engine, which is NATS JetStream: names, chunks, cards, and its calls.

The byte offset in the recording is the truth, and the publisher's file is the buffer: the engine is a copy on
the way. Nothing here is imported unless sessions are published, or watched on another machine.
"""
