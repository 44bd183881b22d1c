"""Finds tokens whose first letters name their vendor, and so their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from agentwatch.output.redact.decoding import colours
from agentwatch.output.redact.mask import Found
from agentwatch.output.redact.secrets.values import has_placeholder, is_random, run_of

_ALNUM = "[A-Za-z0-9]"
HEX = "[0-9a-f]"
WORD = "[A-Za-z0-9_-]"
_BASE64 = "[A-Za-z0-9+/_-]"
_DISCORD = r"[A-Za-z0-9]{21,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"
UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


class Rule(NamedTuple):
    """A format of tokens.

    Example:
        >>> Rule("github", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM + "{36,255}").prefixes.split()[0]
        'ghp_'
    """

    kind: str
    prefixes: str
    """The beginnings of tokens, separated by spaces."""
    body: str
    """The regular expression of what follows, which RE2 can compile: bounded repeats, no look-around."""
    weak: bool = False
    """Whether words of other texts have the prefix too, so that the rest must not be words."""


RULES: tuple[Rule, ...] = (
    # Tokens of language models, search for agents, and experiments.
    Rule(
        "base64",
        "Z2hwX Z2hzX Z2hvX Z2l0aHViX3BhdF c2stYW50L c2stcHJva eG94Yi eG94cC",
        "[A-Za-z0-9+/_-]{24,1000}={0,2}",
    ),
    Rule(
        "private key",
        "LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVO",
        "[A-Za-z0-9+/_-]{60,1000}={0,2}",
    ),
    Rule("jwt", "ZXlK", "[A-Za-z0-9+/=_-]{60,1000}"),
    Rule("anthropic", "sk-ant-", WORD + "{20,250}"),
    Rule("openrouter", "sk-or-v1-", HEX + "{40,80}"),
    Rule("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", WORD + "{20,250}"),
    Rule("openai", "sess-", _ALNUM + "{40}"),
    Rule("langfuse", "sk-lf- pk-lf-", UUID),
    Rule("litellm", "sk-litellm-", WORD + "{16,100}"),
    Rule("helicone", "sk-helicone-", WORD + "{16,100}"),
    Rule("openai", "sk-", WORD + "{20,250}", weak=True),
    Rule("groq", "gsk_", _ALNUM + "{40,64}"),
    Rule("xai", "xai- xai-token-", _ALNUM + "{60,100}"),
    Rule("perplexity", "pplx-", _ALNUM + "{40,64}"),
    Rule("replicate", "r8_", _ALNUM + "{37,40}"),
    Rule("hugging face", "hf_ api_org_", _ALNUM + "{32,40}"),
    Rule("hugging face", "hf_oauth_", WORD + "{30,400}"),
    Rule("cursor", "key_ crsr_", HEX + "{64}"),
    Rule("elevenlabs", "sk_", HEX + "{48}"),
    Rule("fireworks", "fw_", _ALNUM + "{20,40}", weak=True),
    Rule("nvidia", "nvapi-", WORD + "{60,80}"),
    Rule("cerebras", "csk-", _ALNUM + "{40,64}"),
    Rule("voyage", "pa- al-", WORD + "{43}", weak=True),
    Rule("jina", "jina_", WORD + "{50,80}"),
    Rule("langsmith", "lsv2_pt_ lsv2_sk_ ls__", "[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    Rule("wandb", "wandb_v1_", WORD + "{40,120}"),
    Rule("tavily", "tvly-", WORD + "{30,70}"),
    Rule("firecrawl", "fc-", HEX + "{32}"),
    Rule("apify", "apify_api_", _ALNUM + "{34,50}"),
    Rule("brave", "BSA", WORD + "{28}", weak=True),
    Rule("modal", "ak- as-", _ALNUM + "{22}", weak=True),
    Rule("pinecone", "pcsk_", WORD + "{40,90}"),
    Rule("e2b", "e2b_ sk_e2b_", HEX + "{40}"),
    Rule("llamacloud", "llx-", _ALNUM + "{40,60}"),
    Rule("context7", "ctx7sk-", WORD + "{30,60}"),
    Rule("together", "tgp_v1_", WORD + "{40,60}"),
    Rule("browserbase", "bb_live_ bb_test_", WORD + "{20,60}"),
    Rule("logfire", "pylf_v1_", "[a-z]{2}_[A-Za-z0-9]{30,60}"),
    Rule("friendli", "flp_", _ALNUM + "{40,60}"),
    Rule("mem0", "m0-", _ALNUM + "{40}"),
    Rule("braintrust", "bt-st- sk-bt-", WORD + "{30,80}"),
    Rule("letta", "sk-let-", WORD + "{40,200}"),
    Rule("anyscale", "esecret_ aph0_", "[A-Za-z0-9]{20,80}"),
    # Tokens of clouds, hosts, databases and stores of secrets.
    Rule("aws", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}"),
    Rule("aws", "ABSK", "[A-Za-z0-9+/]{90,300}={0,2}"),
    Rule("aws", "bedrock-api-key-", "[A-Za-z0-9+/=]{30,600}"),
    Rule("aws", "amzn.mws.", UUID),
    Rule("amazon", "amzn1.oa2-cs.v1.", HEX + "{64}"),
    Rule("amazon", "Atza| Atzr|", "[A-Za-z0-9_+/=-]{40,600}"),
    Rule("google", "AIza", WORD + "{35}"),
    Rule("google", "ya29.", "[A-Za-z0-9_-]{20,1000}(?:\\.[A-Za-z0-9_-]{1,500})?"),
    Rule("google", "GOCSPX-", WORD + "{20,60}"),
    Rule("google", "1//0", WORD + "{40,200}"),
    Rule("google", "AQ.Ab", WORD + "{30,100}"),
    Rule("google", "AAAA", "[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{140}"),
    Rule("alibaba", "LTAI", _ALNUM + "{12,26}", weak=True),
    Rule("tencent", "AKID", _ALNUM + "{13,40}", weak=True),
    Rule("yandex", "AQVN", WORD + "{35,38}", weak=True),
    Rule("yandex", "YCA YCM YCN YCO YCP", WORD + "{36,40}", weak=True),
    Rule("yandex", "t1.", r"[A-Za-z0-9_-]{1,200}={0,2}\.[A-Za-z0-9_-]{80,100}={0,2}"),
    Rule("yandex", "y0_ y1_ y2_ y3_", WORD + "{50,120}"),
    Rule("digitalocean", "dop_v1_ doo_v1_ dor_v1_", HEX + "{64}"),
    Rule("scaleway", "SCW", "[A-Z0-9]{17}", weak=True),
    Rule("fly", "fo1_", WORD + "{40,60}"),
    Rule("fly", "fm1r_ fm2_ fm1a_", "[A-Za-z0-9+/=_,-]{60,1000}"),
    Rule("heroku", "HRKU-", "(?:AA" + WORD + "{56,60}|" + UUID + ")"),
    Rule("render", "rnd_", _ALNUM + "{28,40}", weak=True),
    Rule("vercel", "vcp_ vci_ vca_ vcr_ vck_", WORD + "{24,80}", weak=True),
    Rule("netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", _ALNUM + "{36,60}"),
    Rule("cloudflare", "v1.0-", HEX + "{24}-" + HEX + "{140,160}"),
    Rule("cloudflare", "cfk_ cfut_ cfat_", WORD + "{36,80}", weak=True),
    Rule("planetscale", "pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_app_", r"[\w.=-]{30,70}"),
    Rule("supabase", "sbp_", "(?:oauth_|v0_)?" + HEX + "{40}"),
    Rule("supabase", "sb_secret_", WORD + "{20,60}"),
    Rule("backblaze", "K001 K002 K003 K004 K005", "[A-Za-z0-9+/_-]{27}", weak=True),
    Rule("qovery", "qov_", WORD + "{30,100}"),
    Rule("neon", "npg_", _ALNUM + "{12,40}"),
    Rule("appwrite", "standard_", HEX + "{256}"),
    Rule("neon", "napi_", _ALNUM + "{40,80}"),
    Rule("mongodb", "mdb_sa_sk_ mdb_sa_id_", WORD + "{20,80}"),
    Rule("databricks", "dapi dose dsapi dkea ddap", HEX + "{32}(?:-[0-9])?"),
    Rule("aiven", "AVNS_", WORD + "{15,40}"),
    Rule("elastic", "essu_", "[A-Za-z0-9+/=]{40,200}"),
    Rule("clickhouse", "4b1d", _ALNUM + "{38}", weak=True),
    Rule("terraform", "atlasv1.", WORD + "{60,80}"),
    Rule("vault", "hvs. hvb. hvr.", WORD + "{20,400}"),
    Rule("vault", "s.", _ALNUM + "{24}", weak=True),
    Rule("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,120}"),
    Rule("pulumi", "pul-", HEX + "{40}"),
    Rule("infracost", "ico-", _ALNUM + "{32}", weak=True),
    Rule(
        "1password",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    Rule("1password", "ops_eyJ", "[A-Za-z0-9+/_-]{80,1000}={0,3}"),
    Rule("infisical", "st.", HEX + r"{20,32}\." + HEX + r"{32}\." + HEX + "{32}"),
    Rule("age", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    Rule("age", "AGE-PLUGIN-", "[A-Z0-9-]{10,200}1[A-Z0-9]{20,200}"),
    Rule("tailscale", "tskey-", "[a-z]{2,12}-[A-Za-z0-9]{8,24}(?:CNTRL|DEVEL)?-[A-Za-z0-9]{20,64}"),
    Rule("tailscale", "tskey-", "[A-Za-z0-9-]{16,100}", weak=True),
    Rule("nebula", "dnkey-", "[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    Rule("openshift", "sha256~", WORD + "{43}"),
    Rule("rancher", "token-", "[a-z0-9]{5}:[a-z0-9]{54}"),
    Rule("portainer", "ptr_", _BASE64 + "{40,50}=?"),
    Rule("scalingo", "tk-us-", WORD + "{48}"),
    Rule("harness", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    Rule("convex", "prod: dev: preview:", r"[a-z]{3,12}-[a-z]{3,12}-[0-9]{1,4}\|[A-Za-z0-9+/=]{40,300}"),
    # Tokens of code hosts, package registries, build services and tools of developers.
    Rule("github", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9_.-]{36,600}"),
    Rule("github", "github_pat_", "[A-Za-z0-9_]{36,255}"),
    Rule("github", "v1.", HEX + "{40}"),
    Rule(
        "gitlab",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- "
        "glsoat- glffct- glwt- gitlab-runner-",
        r"[A-Za-z0-9_.=-]{20,320}",
    ),
    Rule("gitlab", "GR1348941", WORD + "{20,50}"),
    Rule("gitlab", "_gitlab_session=", HEX + "{32}"),
    Rule("atlassian", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{20,400}"),
    Rule("atlassian", "ATSTT3 ATOTT3", "[A-Za-z0-9_=-]{20,400}"),
    Rule("bitbucket", "ATBB", "[A-Za-z0-9_=.-]{24,60}", weak=True),
    Rule("trello", "ATTA", HEX + "{64,80}"),
    Rule("sourcegraph", "sgp_ sgd_ slk_ sgs_", r"(?:[A-Za-z0-9]{16}_|local_)?[0-9a-f]{40,64}"),
    Rule("npm", "npm_", _ALNUM + "{36,60}"),
    Rule("pypi", "pypi-", "AgE[A-Za-z0-9_-]{50,1000}"),
    Rule("rubygems", "rubygems_", HEX + "{48}"),
    Rule("nuget", "oy2", "[a-z0-9]{43}"),
    Rule("crates", "cio", _ALNUM + "{32}", weak=True),
    Rule("clojars", "CLOJARS_", "[A-Za-z0-9]{60}"),
    Rule("docker", "dckr_pat_ dckr_oat_", WORD + "{20,60}"),
    Rule("jfrog", "AKCp", _ALNUM + "{60,80}"),
    Rule("jfrog", "cmVmdGtuOj cmVmdGtu", _ALNUM + "{48,80}"),
    Rule("packagist", "packagist_", "[a-z]{2,8}_[0-9a-f]{40,90}"),
    Rule("packagist", "conductor_", HEX + "{40,80}"),
    Rule("circleci", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{20,100}"),
    Rule("buildkite", "bkua_ bkct_ bkaj_ bkcq_", _ALNUM + "{36,70}"),
    Rule("sonar", "sqp_ sqa_ squ_", HEX + "{40}"),
    Rule("snyk", "snyk_", r"[a-z]{3,4}\.[0-9a-f]{8}\.[A-Za-z0-9_.-]{20,200}"),
    Rule("octopus", "API-", "[A-Z0-9]{25,40}", weak=True),
    Rule("postman", "PMAK-", HEX + "{24}-" + HEX + "{34}"),
    Rule("postman", "PMAT-", "[0-9A-Z]{26}"),
    Rule("readme", "rdme_", "[a-z0-9]{60,80}"),
    Rule("prefect", "pnu_ pnb_", _ALNUM + "{36}"),
    Rule("trigger", "tr_prod_ tr_dev_ tr_stg_ tr_pat_", _ALNUM + "{20,60}"),
    Rule("chromatic", "chpt_", HEX + "{12,20}"),
    Rule("figma", "figd_ figo_ figu_ figoh_ figor_ figur_ figuh_", WORD + "{36,60}"),
    Rule("linear", "lin_api_ lin_oauth_ lin_wh_", _ALNUM + "{32,80}"),
    Rule("launchdarkly", "sdk- api- mob-", UUID),
    Rule("posthog", "phx_ phs_ phr_", _ALNUM + "{40,80}"),
    Rule("wakatime", "waka_", UUID),
    Rule("statsig", "secret- console-", _ALNUM + "{40,60}", weak=True),
    Rule("configcat", "configcat-sdk-", r"[0-9]/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22}"),
    Rule("lambdatest", "LT_", _ALNUM + "{40,60}", weak=True),
    Rule("codesandbox", "csb_v1_", WORD + "{40,60}"),
    Rule("bitrise", "bitpat_ bitwat_", WORD + "{40,100}"),
    Rule("depot", "depot_org_ depot_project_ depot_user_", HEX + "{40,80}"),
    Rule("devcycle", "dvc_server_ dvc_client_ dvc_mobile_", "[A-Za-z0-9_]{20,80}"),
    Rule("flagsmith", "ser.", _ALNUM + "{20,40}", weak=True),
    Rule("unleash", "default: production: development: staging:", r"[a-z]{2,16}\.[0-9a-f]{40,64}"),
    Rule("growthbook", "secret_user_ secret_admin_ secret_readonly_", "[A-Za-z0-9+/_-]{20,80}"),
    Rule("retool", "retool_01", "[a-z0-9]{20,60}"),
    Rule("dbt", "dbtc_ dbtu_", WORD + "{30,60}"),
    Rule("meilisearch", "msys_", WORD + "{30,80}"),
    Rule("encore", "ena1_", WORD + "{30,80}"),
    Rule("endorlabs", "endr+", WORD + "{16}"),
    Rule("gitguardian", "ggtt-", "[a-z]-[A-Za-z0-9]{30,80}"),
    Rule("spectral", "spu-", HEX + "{32}"),
    Rule("stackhawk", "hawk.", r"[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}"),
    # Tokens of payments, shops, banks and coins.
    Rule(
        "stripe",
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_ ek_live_ ek_test_",
        "[A-Za-z0-9_]{10,255}",
    ),
    Rule("webhook secret", "whsec_", "[A-Za-z0-9+/]{24,90}={0,2}"),
    Rule("square", "EAAA EAAl", WORD + "{56,64}"),
    Rule("square", "sq0atp- sq0csp- sq0idb- sq0idp-", WORD + "{22,60}"),
    Rule("braintree", "access_token$production$ access_token$sandbox$", r"[0-9a-z]{16}\$[0-9a-f]{32}"),
    Rule("paypal", "A21AA", WORD + "{60,120}"),
    Rule("plaid", "access-sandbox- access-development- access-production-", UUID),
    Rule("plaid", "public-sandbox- public-development- public-production- link-production-", UUID),
    Rule("gocardless", "live_ sandbox_", WORD + "{40}", weak=True),
    Rule("lob", "live_ test_", "(?:pub_)?[0-9a-f]{31,35}", weak=True),
    Rule("mollie", "live_ test_ access_", _ALNUM + "{30,40}", weak=True),
    Rule("shippo", "shippo_live_ shippo_test_", HEX + "{40}"),
    Rule("easypost", "EZAK EZTK", _ALNUM + "{54}"),
    Rule("flutterwave", "FLWSECK- FLWSECK_TEST- FLWPUBK- FLWPUBK_TEST-", "[0-9A-Za-z]{12,40}(?:-X)?"),
    Rule("razorpay", "rzp_live_ rzp_test_", _ALNUM + "{14}"),
    Rule("checkout", "sk_ sk_test_ sk_sbox_", r"(?:" + UUID + r"|[a-z0-9]{26}[a-z0-9*]?)", weak=True),
    Rule("duffel", "duffel_test_ duffel_live_", "[A-Za-z0-9_=-]{43}"),
    Rule("asaas", "$aact_", _ALNUM + "{10}[A-Za-z0-9_:-]{20,300}"),
    Rule("asaas", "$aact_prod_ $aact_hmlg_", "[A-Za-z0-9:_=-]{20,300}"),
    Rule("paddle", "pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", "[A-Za-z0-9_]{26,90}"),
    Rule("midtrans", "SB-Mid-server- Mid-server- SB-Mid-client-", WORD + "{16,40}"),
    Rule("mercadopago", "APP_USR-", "[0-9]{10,20}-[0-9]{6}-[0-9a-f]{32}-[0-9]{5,12}"),
    Rule("mercadopago", "APP_USR- TEST-", UUID),
    Rule("omise", "skey_ skey_test_ pkey_test_", "(?:test_)?[a-z0-9]{19,24}", weak=True),
    Rule("xendit", "xnd_production_ xnd_development_", _ALNUM + "{30,80}"),
    Rule("brex", "bxt_", _ALNUM + "{30,80}"),
    Rule("polar", "polar_oat_ polar_pat_ polar_whs_", WORD + "{30,80}"),
    Rule("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpit_ shprt_", "[0-9a-fA-F]{32}"),
    Rule("adyen", "AQE", r"[A-Za-z0-9]{3,12}[A-Za-z0-9+/=.*-]{40,200}", weak=True),
    Rule("settlemint", "sm_aat_ sm_pat_ sm_sat_", _ALNUM + "{16}"),
    Rule("clerk", "sk_live_ sk_test_", WORD + "{20,60}"),
    Rule("conekta", "key_", _ALNUM + "{22,24}", weak=True),
    Rule("wix", "IST.", "eyJ[A-Za-z0-9_.-]{60,1000}"),
    Rule("ebay", "PRD- SBX-", "[0-9a-f]{8,12}(?:-[0-9a-f]{4}){4}"),
    Rule("ebay", "v^1.1#", "[A-Za-z0-9+/=#^_.-]{60,1000}"),
    Rule("bip32", "xprv yprv zprv tprv", "[1-9A-HJ-NP-Za-km-z]{107,108}"),
    Rule("nostr", "nsec1", "[02-9ac-hj-np-z]{58}"),
    Rule("coinbase", "organizations/", UUID + "/apiKeys/" + UUID),
    Rule("revolut", "oa_prod_ oa_sand_", "[A-Za-z0-9_-]{40,60}"),
    Rule("sumup", "sup_sk_", _ALNUM + "{32,48}"),
    Rule("klarna", "klarna_live_api_ klarna_test_api_ klarna_playground_api_", "[A-Za-z0-9+/=_-]{40,400}"),
    Rule("cashfree", "cfsk_ma_test_ cfsk_ma_prod_", HEX + "{32}_" + HEX + "{8}"),
    # Tokens of mail, chats, telephones and social networks.
    Rule(
        "slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd- xoxa-2-", "[A-Za-z0-9%/+=-]{10,255}"
    ),
    Rule("slack", "xoxe.xoxp- xoxe.xoxb- xoxe.", "[A-Za-z0-9-]{10,255}"),
    Rule("slack", "xapp- xwfp-", "[0-9A-Za-z-]{20,255}"),
    Rule("discord", "MT MD Mj Mz NT ND Nj Nz OT OD", _DISCORD),
    Rule("discord", "mfa.", WORD + "{80,90}"),
    Rule("twilio", "SK AC", HEX + "{32}"),
    Rule("sendgrid", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    Rule("brevo", "xkeysib- xsmtpsib-", HEX + "{64}-" + _ALNUM + "{16}"),
    Rule("mailgun", "key- pubkey-", HEX + "{32}"),
    Rule("mandrill", "md-", WORD + "{22}", weak=True),
    Rule("mailersend", "mlsn.", HEX + "{64}"),
    Rule("resend", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}", weak=True),
    Rule("intercom", "dG9rO", "[A-Za-z0-9+/]{50,70}={0,2}"),
    Rule("onesignal", "os_v2_app_ os_v2_org_", "[a-z0-9]{80,120}"),
    Rule("facebook", "EAA", _ALNUM + "{20,400}", weak=True),
    Rule("instagram", "IGQV IGQW IGAA", _ALNUM + "{60,300}"),
    Rule("twitter", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{50,160}"),
    Rule("linkedin", "WPL_AP0. WPL_AP1.", r"[A-Za-z0-9.+/=]{14,60}"),
    Rule("linkedin", "AQV AQX AQU", WORD + "{120,600}"),
    Rule("courier", "pk_prod_ pk_test_ dk_prod_", "[A-Z0-9]{28}"),
    Rule("knock", "sk_", WORD + "{43}", weak=True),
    Rule("stytch", "secret-test- secret-live-", "[A-Za-z0-9_=-]{36}"),
    Rule("telnyx", "KEY01", r"[0-9A-F]{28,36}_[A-Za-z0-9]{20,30}"),
    Rule("messagebird", "live_ test_", _ALNUM + "{25}", weak=True),
    Rule("klaviyo", "pk_", HEX + "{32,34}"),
    Rule("beamer", "b_", "[a-z0-9=_-]{44}", weak=True),
    Rule("tiktok", "act. clt. rft.", _ALNUM + r"{40,100}![0-9]{1,6}(?:\.[a-z0-9]{1,4})?", weak=True),
    Rule("twitch", "oauth:", "[a-z0-9]{30}"),
    # Tokens of monitoring, logs and errors.
    Rule("new relic", "NRAK- NRAA- NRBR- NRIQ- NRSP- NRRA- NRII-", "[A-Za-z0-9_-]{24,42}"),
    Rule("new relic", "NRJS-", HEX + "{19}"),
    Rule("datadog", "ddapp_ ddpat_ ddsat_ ddapi_", _ALNUM + "{30,60}"),
    Rule("datadog", "pub", HEX + "{32}"),
    Rule("sentry", "sntrys_", "eyJ[A-Za-z0-9+/=]{20,500}(?:_[A-Za-z0-9+/=]{20,100})?"),
    Rule("sentry", "sntryu_ sntryi_ sntrya_", HEX + "{64}"),
    Rule("grafana", "glsa_", _ALNUM + "{32}_[A-Fa-f0-9]{8}"),
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
    Rule("segment", "sgp_", _ALNUM + "{64}"),
    Rule("svix", "sk_ testsk_", r"[A-Za-z0-9_-]{24,40}\.(?:us|eu|in|au|ca)"),
    Rule("healthchecks", "hcw_ hcr_", _ALNUM + "{28}"),
    # Tokens of documents, customers, maps, devices and everything else.
    Rule("notion", "ntn_", _ALNUM + "{40,60}"),
    Rule("notion", "secret_", _ALNUM + "{43}"),
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
    Rule("adobe", "p8e- p8-", _ALNUM + "{32}"),
    Rule("adafruit", "aio_", _ALNUM + "{28}"),
    Rule("frameio", "fio-u-", "[A-Za-z0-9_=-]{60,70}"),
    Rule("zoho", "1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}"),
    Rule("intra42", "s-s4t2ud- s-s4t2af-", HEX + "{64}"),
    Rule("ubidots", "BBFF- BBUS- BBAU-", _ALNUM + "{30}"),
    Rule("riot", "RGAPI-", UUID),
    Rule(
        "authress",
        "sc_ ext_ scauth_ authress_",
        r"[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.(?:acc)?[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
    ),
    Rule("workos", "sk_", "[A-Za-z0-9]{50,120}", weak=True),
    Rule("sanity", "sk", _ALNUM + "{80,200}"),
    Rule("fleetbase", "flb_live_ flb_test_", _ALNUM + "{20,60}"),
    Rule(
        "roblox",
        "_|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-will-allow-someone-to-log-in-as-you-and-to-steal-your-ROBUX-and-items.|_",
        WORD + "{100,1000}",
    ),
    Rule("ngrok", "ak_ cr_", _ALNUM + "{27,30}", weak=True),
    Rule("ngrok", "2", r"[A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}", weak=True),
    Rule("zuplo", "zpka_", "[0-9a-f]{32}_[0-9a-f]{8}"),
    Rule("unkey", "unkey_", _ALNUM + "{20,40}"),
    Rule("n8n", "n8n_api_", WORD + "{40,200}"),
    Rule("edge impulse", "ei_", HEX + "{64}"),
    Rule("nightfall", "NF-", _ALNUM + "{32}"),
    Rule("salad", "salad_cloud_", r"[A-Za-z0-9_]{1,60}_[A-Za-z0-9]{30,60}"),
    Rule("webflow", "ws-", HEX + "{64}"),
)

LONG_WORD = 14
"""Only longer words are searched."""
_HEAD = 4
"""The characters of a word by which the prefixes that may be in a text are chosen."""
_WORD_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
SPLITTING = bytes(char if char in _WORD_CHARACTERS else 32 for char in range(256))
"""A table that leaves only the words of letters and digits."""
_LONG = 240
"""Tokens that are longer have no length of their own: all that follows belongs to them."""
_LEADING = re.compile("[A-Za-z0-9]{0,99}")
_RUN = re.compile(r"(?:\(\?:[^()]{1,20}\)\?)?\[(?:[A-Za-z0-9](?:-[A-Za-z0-9])?){1,8}\]\{([0-9]{1,3})[,}]")
"""A pattern of which every match has as many letters and digits in a row."""


@cache
def compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def least_run(pattern: str) -> int:
    """Return how many letters and digits in a row every match of a pattern has, by its beginning.

    Example:
        >>> least_run("[A-Za-z0-9]{25}"), least_run("[A-Za-z0-9_-]{25}")
        (25, 0)
    """
    match = _RUN.match(pattern)
    return int(match[1]) if match is not None else 0


_LEAST_RUNS = tuple(least_run(rule.body) for rule in RULES)


def _by_head(*, whole: bool) -> dict[str, list[tuple[int, str]]]:
    """Return the places of rules with their prefixes, by the head of the word that they begin with. `whole`
    selects the prefixes that have a whole word, or its head; otherwise those that have less."""
    found: dict[str, list[tuple[int, str]]] = {}
    for at, rule in enumerate(RULES):
        for prefix in rule.prefixes.split():
            word = prefix.lstrip("_|^$")
            match = _LEADING.match(word)
            leading = match[0] if match is not None else ""
            if whole == (len(leading) >= _HEAD or len(leading) < len(word)):
                found.setdefault(leading[:_HEAD], []).append((at, prefix))
    return found


_WHOLE, _PARTS = _by_head(whole=True), _by_head(whole=False)


def tokens(piece: str, words: set[str], heads: set[str]) -> Iterator[Found]:
    """Yield the tokens in a piece, in the order of the rules. `heads` are the first 4 letters of words."""
    rules = [rule for head in heads & _WHOLE.keys() for rule in _WHOLE[head]]
    if words:
        rules += [
            rule
            for part in {word[:size] for word in words for size in (1, 2, 3)} & _PARTS.keys()
            for rule in _PARTS[part]
        ]
    longest = max(map(len, words), default=LONG_WORD)
    for at, prefix in sorted(rules):
        if longest >= _LEAST_RUNS[at] and prefix in piece:
            yield from _of_rule(piece, prefix, at)


def may_begin(run: str) -> bool:
    """Return whether some characters of tokens may begin with the letters of a vendor."""
    words = run.encode("ascii").translate(SPLITTING).decode("ascii").split()
    return any(word[:_HEAD] in _WHOLE or any(word[:size] in _PARTS for size in (2, 3)) for word in words)


def _of_rule(piece: str, prefix: str, at: int) -> Iterator[Found]:
    rule = RULES[at]
    match_body = compiled(rule.body).match
    start = piece.find(prefix)
    while start >= 0:
        end = start + len(prefix)
        if not prefix[0].isalnum() or _begins(piece, start, prefix):
            match = match_body(piece, end)
            if match is not None:
                value = match[0].rstrip(".")
                end += len(value)
                if len(value) > _LONG:
                    end += run_of(piece, end)
                if not piece[end : end + 1].isalnum() and _may_be(value, weak=rule.weak):
                    yield Found(start, end, rule.kind)
        start = piece.find(prefix, end)


def _begins(piece: str, start: int, prefix: str) -> bool:
    """Return whether a word begins at a place, not in the middle of base64."""
    if not start:
        return True
    before = piece[start - 1]
    if before.isalnum():
        return False
    return before not in "+/" or not prefix.isalnum() or not piece[max(0, start - 9) : start - 1].isalnum()


def _may_be(value: str, *, weak: bool) -> bool:
    if weak:
        return any(map(str.isdigit, value)) and is_random(value, 12)
    return not has_placeholder(value) and not value.endswith("EXAMPLE")


_UNICODE_ESCAPE = re.compile(r"\\u00([0-7][0-9a-fA-F])")
_ESCAPES = (("\\n", "\n\n"), ("\\r", "\n\n"), ("\\t", "\t\t"), ('\\"', ' "'), ("\\'", " '"), ("\\/", " /"))
_QUOTES = (
    "\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f",
    "\u2018\u2019\u201a\u201b\u2039\u203a",
)
_SIGNS = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **{ord(sign): ord('"') for sign in _QUOTES[0]},
    **{ord(sign): ord("'") for sign in _QUOTES[1]},
    **dict.fromkeys((0xA0, 0x2007, 0x202F, 0x3000), ord(" ")),
    **dict.fromkeys((0xFE55, 0xFE13, 0x2236, 0xA789), ord(":")),
    0xFE66: ord("="),
}
"""Signs, letters and quotes outside ASCII that mean the same as those in it."""
_SIGN = re.compile(f"[{''.join(map(chr, _SIGNS))}]")


def plain(text: str) -> str:
    r"""Return a text with one ASCII character for each character of the given one. A colour becomes spaces.
    An escape such as `\n`, which texts of JSON in JSON have, becomes what it stands for, with spaces before
    it. Full-width signs become those of ASCII, other characters outside it `?`."""
    if not text.isascii():
        text = _SIGN.sub(lambda match: chr(_SIGNS[ord(match[0])]), text)
        text = text.encode("ascii", "replace").decode("ascii")
    for pattern in colours(text):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    if "\\" in text:
        for escape, meaning in _ESCAPES:
            text = text.replace(escape, meaning)
        if "\\u00" in text:
            text = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)).rjust(len(match[0])), text)
    return text
