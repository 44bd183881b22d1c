"""The formats of Codex."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.codex.recognition import recognises, role
from agentwatch.wire.codex_rollout import recognition as rollout
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="codex",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.codex.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.codex.blocks:blocks"),
    traits=Traits(has_times=False),
)
ROLLOUT = Agent(
    name="codex-rollout",
    agent="codex",
    recognises=rollout.recognises,
    role=rollout.role,
    decoder=on_first_use("agentwatch.wire.codex_rollout.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.codex_rollout.blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=rollout.time_of,
)
FORMATS = (AGENT, ROLLOUT)
