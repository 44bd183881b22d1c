"""Three servers on free loopback ports that replicate each stream, and an address of a living one."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server, nats_server
from tests.harness.processes import until
from tests.harness.trials.stored import group_of
from tests.harness.trials.streams import prepare

NODES = 3
_LEADER_SECONDS = 60


class Cluster:
    """Servers by their names, and a proxy that passes connections to a living one: a load balancer."""

    def __init__(self, servers: dict[str, Server], proxy: Proxy) -> None:
        self.servers = servers
        self.proxy = proxy
        self.dead: str = ""
        """The name of the server that was killed; empty if all are alive."""

    @property
    def alive(self) -> Server:
        return next(server for name, server in self.servers.items() if name != self.dead)

    def leader(self) -> str:
        """Return the name of the server that leads the stream of bytes; empty while there is none."""
        return group_of(self.alive.port).leader

    def kill_leader(self) -> str:
        """Kill the server that leads the stream of bytes, and return its name."""
        until(self.leader, _LEADER_SECONDS)
        name = self.leader()
        self.servers[name].kill()
        self.dead = name
        self.proxy.target = self.alive.port
        return name

    def restart(self) -> None:
        """Start the server again that was killed, and wait until it has what the others have."""
        self.servers[self.dead].restart()
        self.dead = ""
        until(lambda: group_of(self.alive.port).is_whole, _LEADER_SECONDS)


@contextmanager
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Yield a running cluster, in which three servers store each message."""
    ports = _free_ports(NODES)
    routes = ", ".join(f"nats://127.0.0.1:{port}" for port in ports)
    with ExitStack() as stack:
        servers = {}
        for number, port in enumerate(ports):
            config = (
                f"server_name: n{number}\ncluster {{name: c, listen: 127.0.0.1:{port}, routes: [{routes}]}}\n"
            )
            servers[f"n{number}"] = stack.enter_context(nats_server(tmp_path, config))
        prepare(servers["n0"], replicas=NODES)
        proxy = stack.enter_context(Proxy(servers["n0"].port))
        yield Cluster(servers, proxy)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]
