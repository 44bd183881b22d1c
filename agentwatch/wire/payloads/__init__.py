"""The arguments and the result of a call as its stream sent them, for programs that read JSON.

The formats differ in where they put the two. They agree on a few names for them.
"""

from agentwatch.wire.payloads.payload import Payload, Payloads, arguments_in, result_in

__all__ = ["Payload", "Payloads", "arguments_in", "result_in"]
