"""Tokens of monitoring, logs and errors."""

from __future__ import annotations

from agentwatch.redaction.secrets.rules.rule import ALNUM, HEX, Rule

RULES = (
    Rule("new relic", "NRAK- NRAA- NRBR- NRIQ- NRSP- NRRA- NRII-", "[A-Za-z0-9_-]{24,42}"),
    Rule("new relic", "NRJS-", HEX + "{19}"),
    Rule("datadog", "ddapp_ ddpat_ ddsat_ ddapi_", ALNUM + "{30,60}"),
    Rule("datadog", "pub", HEX + "{32}"),
    Rule("sentry", "sntrys_", "eyJ[A-Za-z0-9+/=]{20,500}(?:_[A-Za-z0-9+/=]{20,100})?"),
    Rule("sentry", "sntryu_ sntryi_ sntrya_", HEX + "{64}"),
    Rule("grafana", "glsa_", ALNUM + "{32}_[A-Fa-f0-9]{8}"),
    Rule("grafana", "glc_", "[A-Za-z0-9+/]{32,400}={0,3}"),
    Rule("grafana", "eyJrIjoi", "[A-Za-z0-9+/_-]{50,400}={0,3}"),
    Rule("honeycomb", "hcaik_ hcamk_ hcalk_ hcbik_ hcxik_", "[a-z0-9]{26,70}"),
    Rule(
        "dynatrace",
        "dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.",
        r"[A-Z0-9-]{8,24}\.[A-Z0-9]{64}",
    ),
    Rule("axiom", "xaat- xapt- xait-", "[0-9a-f-]{36}"),
    Rule("checkly", "cu_ sv_", HEX + "{32}"),
    Rule("incident", "inc_", HEX + "{60,70}"),
    Rule("pagerduty", "pdus+ pdeu+", r"[A-Za-z0-9+_-]{12,60}"),
    Rule("segment", "sgp_", ALNUM + "{64}"),
    Rule("svix", "sk_ testsk_", r"[A-Za-z0-9_-]{24,40}\.(?:us|eu|in|au|ca)"),
    Rule("healthchecks", "hcw_ hcr_", ALNUM + "{28}"),
)
