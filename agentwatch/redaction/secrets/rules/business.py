"""Tokens of documents, customers, maps, devices and everything else."""

from __future__ import annotations

from agentwatch.redaction.secrets.rules.rule import ALNUM, HEX, UUID, WORD, Rule

RULES = (
    Rule("notion", "ntn_", ALNUM + "{40,60}"),
    Rule("notion", "secret_", ALNUM + "{43}"),
    Rule("airtable", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule("airtable", "key", "[A-Za-z0-9]{14}", weak=True),
    Rule("asana", "1/ 0/", "[0-9]{12,20}:[0-9a-f]{32}"),
    Rule("asana", "2/", "[0-9]{12,20}/[0-9]{12,20}:[0-9a-f]{32}"),
    Rule("clickup", "pk_", "[0-9]{5,12}_[A-Z0-9]{32}"),
    Rule("hubspot", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", UUID),
    Rule("salesforce", "00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{60,140}"),
    Rule("salesforce", "5Aep861", r"[A-Za-z0-9_.]{60,120}"),
    Rule("salesforce", "3MVG9 3MVG8 3MVG7", r"[A-Za-z0-9_.]{60,110}"),
    Rule("okta", "00", "[A-Za-z0-9_-]{40}", weak=True),
    Rule("contentful", "CFPAT-", WORD + "{43}"),
    Rule("dropbox", "sl.", "(?:u\\.)?[A-Za-z0-9_=-]{100,1000}"),
    Rule("dropbox", "sl.", "[A-Za-z0-9_=-]{40,200}", weak=True),
    Rule("mapbox", "sk. tk.", r"eyJ[A-Za-z0-9_-]{20,200}\.[A-Za-z0-9_-]{16,40}"),
    Rule("typeform", "tfp_", r"[A-Za-z0-9_.=-]{40,80}"),
    Rule("adobe", "p8e- p8-", ALNUM + "{32}"),
    Rule("adafruit", "aio_", ALNUM + "{28}"),
    Rule("frameio", "fio-u-", "[A-Za-z0-9_=-]{60,70}"),
    Rule("zoho", "1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}"),
    Rule("intra42", "s-s4t2ud- s-s4t2af-", HEX + "{64}"),
    Rule("ubidots", "BBFF- BBUS- BBAU-", ALNUM + "{30}"),
    Rule("riot", "RGAPI-", UUID),
    Rule(
        "authress",
        "sc_ ext_ scauth_ authress_",
        r"[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.(?:acc)?[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
    ),
    Rule("workos", "sk_", "[A-Za-z0-9]{50,120}", weak=True),
    Rule("sanity", "sk", ALNUM + "{80,200}"),
    Rule("fleetbase", "flb_live_ flb_test_", ALNUM + "{20,60}"),
    Rule(
        "roblox",
        "_|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-will-allow-someone-to-log-in-as-you-and-to-steal-your-ROBUX-and-items.|_",
        WORD + "{100,1000}",
    ),
    Rule("ngrok", "ak_ cr_", ALNUM + "{27,30}", weak=True),
    Rule("ngrok", "2", r"[A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}", weak=True),
    Rule("zuplo", "zpka_", "[0-9a-f]{32}_[0-9a-f]{8}"),
    Rule("unkey", "unkey_", ALNUM + "{20,40}"),
    Rule("n8n", "n8n_api_", WORD + "{40,200}"),
    Rule("edge impulse", "ei_", HEX + "{64}"),
    Rule("nightfall", "NF-", ALNUM + "{32}"),
    Rule("salad", "salad_cloud_", r"[A-Za-z0-9_]{1,60}_[A-Za-z0-9]{30,60}"),
    Rule("webflow", "ws-", HEX + "{64}"),
)
