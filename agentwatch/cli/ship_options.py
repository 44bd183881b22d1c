"""The command `ship`, the options of `run` that publish its session, and what they ask for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from agentwatch.cli.messages import say
from agentwatch.cli.options import Options
from agentwatch.cli.parameters import PATH, together

if TYPE_CHECKING:
    from agentwatch.remote.publish.publication import Given, Publication
    from agentwatch.sources.agent import AgentSource

_ENGINE = "ENGINE"
WAIT_SECONDS = 10.0

logging_in = together(
    click.option("--publish-as", metavar="NAME", help="Publish as NAME (default: the user, or the host)."),
    click.option("--publish-ca", type=PATH, metavar="FILE", help="Trust the certificates in FILE."),
    click.option("--publish-plaintext", is_flag=True, help="Allow a connection without TLS."),
    click.option("--credentials", type=PATH, metavar="FILE", help="Log in with the credentials in FILE."),
)
publishing = together(
    click.option(
        "--publish",
        metavar=_ENGINE,
        help="Publish the session to nats://HOST, or to an engine that the settings name.",
    ),
    click.option("--no-publish", is_flag=True, help="Do not publish the session, even if the settings do."),
    click.option(
        "--publish-wait",
        type=click.FloatRange(0, 3600),
        default=WAIT_SECONDS,
        metavar="SECONDS",
        help="Wait at the end until the engine has everything, at most SECONDS (default: 10).",
    ),
    logging_in,
)
_LOGGING_IN = ("publish_as", "publish_ca", "publish_plaintext", "credentials")
_UNRECORDED = "not published: no recording is kept"
_NAMES = ("publish", "no_publish", "publish_wait", *_LOGGING_IN)


def taken(given: dict[str, Any]) -> dict[str, Any]:
    """Remove the options about publishing from the options of `run`, and return them."""
    return {name: given.pop(name) for name in _NAMES}


def publication_of(
    asked: Mapping[str, Any], options: Options, environ: Mapping[str, str] = os.environ
) -> Publication | None:
    """Return how the session is to be published; None if it is not. Nothing is connected or started. Raise
    `UsageError` if the options exclude each other, and `Fault` if the engine is not known, its client is not
    installed, or the credentials cannot be read."""
    words = asked["publish"]
    if words is not None and asked["no_publish"]:
        raise click.UsageError("--publish excludes --no-publish")
    if words is not None and options.no_record:
        raise click.UsageError("--publish needs a recording; it excludes --no-record")
    if asked["no_publish"]:
        return None
    from agentwatch.cli.config_file import read_machines

    machines = read_machines(environ)
    words = words or machines.publish
    if not words:
        if used := [name for name in _LOGGING_IN if asked[name]]:
            raise click.UsageError(f"--{used[0].replace('_', '-')} needs --publish")
        return None
    if options.no_record:
        say(_UNRECORDED)
        return None
    from agentwatch.remote.login import check_extra
    from agentwatch.remote.publish.publication import Publication, target_of

    check_extra()
    given = given_in(asked)
    return Publication(target_of(words, machines.engines, environ, given), asked["publish_wait"], given)


def given_in(asked: Mapping[str, Any]) -> Given:
    """Return what options say about an engine, beside its address."""
    from agentwatch.remote.publish.publication import Given

    return Given(
        asked["publish_as"] or "", asked["credentials"], asked["publish_ca"], bool(asked["publish_plaintext"])
    )


def begin(publication: Publication, source: AgentSource, options: Options) -> None:
    """Begin to publish the recording of an agent that was started; a failure is one line on stderr."""
    if source.path is None:
        say(_UNRECORDED)
        return
    try:
        publication.start(source.path)
    except OSError as error:
        say(f"not published: {(error.strerror or str(error)).lower()}; run: {publication.command()}")
        return
    if options.prints():
        say(f"publishing to {publication.host}")
    source.written.publication = publication


def end(publication: Publication, source: AgentSource, most_seconds: float = float("inf")) -> None:
    """Wait until everything is published, but not too long, and report what is not. If the agent of the
    source continues, so does the publication. It waits at most `most_seconds`, if that is less than what the
    user has asked for."""
    if source.is_live:
        return
    try:
        is_done = publication.wait(most_seconds)
    except KeyboardInterrupt:
        is_done = False
    from agentwatch.remote.copying import is_news

    if is_news(publication.engine, warning := publication.warning()):
        say(warning)
    if not is_done:
        say(publication.unsent())
