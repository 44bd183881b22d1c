"""Messages for the user about the errors of a server, whose own words are bounded and made safe."""

from __future__ import annotations

import socket
import ssl

from agentwatch.remote.address import EngineAddress
from agentwatch.remote.engine import RemoteError, Trouble
from agentwatch.text.safe import safe_text

INIT = "agentwatch engine init"
NOT_ALLOWED = "the engine does not allow it with this login"
SILENT = "the engine does not answer"
NO_TAIL = f"the engine does not answer for its sessions; a new engine needs: {INIT}"
"""A server of which JetStream has no stream answers nothing, as one that is away."""
LOST = "the connection to the engine was lost"
TOO_LARGE = "the message is larger than the engine allows"
NOT_READY = f"the engine is not ready, or has no stream for sessions; a new engine needs: {INIT}"
_WORDS = 200
_ANOTHER_TAIL = 10071
_WRONG_STREAM = {10059, 10060}
_FULL = {
    10002: "the account's limit for storage is reached",
    10023: "the engine has no room left",
    10026: "the engine's limit for readers is reached",
    10028: "the engine has no memory left",
    10047: "the engine has no room left",
    10054: TOO_LARGE,
    10077: "a limit of the engine is reached",
}
"""The reasons by the codes of JetStream's errors (server/errors.json of nats-server)."""
_REASONS = {
    "maximum messages per subject exceeded": "the engine keeps no more messages of this session",
    "maximum bytes exceeded": "the engine's room for sessions is used up",
    "maximum messages exceeded": "the engine's room for sessions is used up",
    "insufficient storage resources available": "the engine has no room left",
}
_UNAVAILABLE = 503
_NO_LOGIN = "the engine wants a login; set AGENTWATCH_NATS_USER and AGENTWATCH_NATS_PASSWORD"
_LOGIN = ("authorization violation", "authentication expired", "authentication revoked", "account expired")


def plain(text: object) -> str:
    """Return foreign text as one short line that is safe to print; empty if it is not text."""
    return " ".join(safe_text(text[:_WORDS]).split()) if isinstance(text, str) else ""


def of_answer(error: object) -> RemoteError:
    """Return the error in an answer of JetStream: `{"code": …, "err_code": …, "description": …}`."""
    given = error if isinstance(error, dict) else {}
    code, description = given.get("err_code"), plain(given.get("description"))
    if not isinstance(code, int):
        code = 0
    if code == _ANOTHER_TAIL:
        return RemoteError("the engine has another newest piece of the session")
    if code in _WRONG_STREAM:
        return RemoteError(f"the engine has no stream for sessions; make it with: {INIT}", Trouble.REFUSED)
    if code in _FULL:
        return RemoteError(_REASONS.get(description, _FULL[code]), Trouble.FULL)
    if given.get("code") == _UNAVAILABLE:
        return RemoteError(f"the engine is not ready: {description}")
    return RemoteError(f"the engine refuses: {description}", Trouble.REFUSED)


def of_server(text: str, *, has_login: bool = True) -> RemoteError:
    """Return the error in a line `-ERR '…'` of the server; `has_login` says whether a secret was given."""
    words = plain(text).removeprefix("nats: ").strip("'")
    lowered = words.lower()
    if "permissions violation" in lowered:
        return RemoteError(f"{NOT_ALLOWED}: {words}", Trouble.REFUSED)
    if any(reason in lowered for reason in _LOGIN):
        return RemoteError("the engine refuses the login" if has_login else _NO_LOGIN, Trouble.REFUSED)
    if "maximum payload" in lowered:
        return RemoteError(TOO_LARGE, Trouble.FULL)
    return RemoteError(f"the engine has ended the connection: {words}")


def of_connecting(error: OSError | TimeoutError, address: EngineAddress) -> RemoteError:
    """Return why no connection was made."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = plain(error.verify_message)
        return RemoteError(
            f"{address}: the certificate of the server is not valid: {reason}", Trouble.REFUSED
        )
    if isinstance(error, ssl.SSLError):
        return RemoteError(f"{address}: no connection by TLS: {plain(error.reason)}", Trouble.REFUSED)
    if isinstance(error, socket.gaierror):
        return RemoteError(f"{address}: the name of the host is not known")
    if isinstance(error, TimeoutError):
        return RemoteError(f"{address} does not answer")
    return RemoteError(f"{address}: {plain(error.strerror).lower() or 'no connection'}")
