"""Tokens of mail, chats, telephones and social networks."""

from __future__ import annotations

from agentwatch.redaction.secrets.rules.rule import ALNUM, HEX, WORD, Rule

_DISCORD = r"[A-Za-z0-9]{21,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"

RULES = (
    Rule(
        "slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd- xoxa-2-", "[A-Za-z0-9%/+=-]{10,255}"
    ),
    Rule("slack", "xoxe.xoxp- xoxe.xoxb- xoxe.", "[A-Za-z0-9-]{10,255}"),
    Rule("slack", "xapp- xwfp-", "[0-9A-Za-z-]{20,255}"),
    Rule("discord", "MT MD Mj Mz NT ND Nj Nz OT OD", _DISCORD),
    Rule("discord", "mfa.", WORD + "{80,90}"),
    Rule("twilio", "SK AC", HEX + "{32}"),
    Rule("sendgrid", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    Rule("brevo", "xkeysib- xsmtpsib-", HEX + "{64}-" + ALNUM + "{16}"),
    Rule("mailgun", "key- pubkey-", HEX + "{32}"),
    Rule("mandrill", "md-", WORD + "{22}", weak=True),
    Rule("mailersend", "mlsn.", HEX + "{64}"),
    Rule("resend", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}", weak=True),
    Rule("intercom", "dG9rO", "[A-Za-z0-9+/]{50,70}={0,2}"),
    Rule("onesignal", "os_v2_app_ os_v2_org_", "[a-z0-9]{80,120}"),
    Rule("facebook", "EAA", ALNUM + "{20,400}", weak=True),
    Rule("instagram", "IGQV IGQW IGAA", ALNUM + "{60,300}"),
    Rule("twitter", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{50,160}"),
    Rule("linkedin", "WPL_AP0. WPL_AP1.", r"[A-Za-z0-9.+/=]{14,60}"),
    Rule("linkedin", "AQV AQX AQU", WORD + "{120,600}"),
    Rule("courier", "pk_prod_ pk_test_ dk_prod_", "[A-Z0-9]{28}"),
    Rule("knock", "sk_", WORD + "{43}", weak=True),
    Rule("stytch", "secret-test- secret-live-", "[A-Za-z0-9_=-]{36}"),
    Rule("telnyx", "KEY01", r"[0-9A-F]{28,36}_[A-Za-z0-9]{20,30}"),
    Rule("messagebird", "live_ test_", ALNUM + "{25}", weak=True),
    Rule("klaviyo", "pk_", HEX + "{32,34}"),
    Rule("beamer", "b_", "[a-z0-9=_-]{44}", weak=True),
    Rule("tiktok", "act. clt. rft.", ALNUM + r"{40,100}![0-9]{1,6}(?:\.[a-z0-9]{1,4})?", weak=True),
    Rule("twitch", "oauth:", "[a-z0-9]{30}"),
)
