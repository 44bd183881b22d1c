"""Makes the stream and the bucket on a server without users, as an administrator does."""

from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login, RemoteError
from agentwatch.remote.nats.administration import StreamLimits, make_streams
from agentwatch.remote.nats.connection import Connection
from tests.harness.engine.server import Server
from tests.harness.processes import until

_INBOX = "_INBOX.administrator"


def prepare(server: Server, *, replicas: int = 1, seconds: float = 30) -> None:
    """Make the stream and the bucket. The servers of a cluster have to elect a leader first."""
    refusals: list[RemoteError] = []

    def are_made() -> bool:
        connection = Connection(Login(parse_engine(server.address)[0]), _INBOX)
        try:
            make_streams(connection, StreamLimits(replicas=replicas))
        except RemoteError as error:
            refusals.append(error)
            return False
        finally:
            connection.close()
        return True

    until(are_made, seconds, "the stream and the bucket", lambda: str(refusals[-1:]))
