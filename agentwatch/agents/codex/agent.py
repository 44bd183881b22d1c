"""The formats of Codex."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.codex import rollout_recognition as rollout
from agentwatch.agents.codex.recognition import recognises, role
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="codex",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.codex.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.codex.blocks:blocks"),
    traits=Traits(has_times=False),
)
ROLLOUT = Agent(
    name="codex-rollout",
    agent="codex",
    recognises=rollout.recognises,
    role=rollout.role,
    decoder=on_first_use("agentwatch.agents.codex.rollout:Decoder"),
    blocks=on_first_use("agentwatch.agents.codex.rollout_blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=rollout.time_of,
)
FORMATS = (AGENT, ROLLOUT)
