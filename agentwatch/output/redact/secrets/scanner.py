"""Finds the secrets of a text, a piece at a time.

Most texts have no secret. So a piece is first asked for words and letters that secrets have: which first
letters its words have takes one pass, and a search for a literal is ten times as fast as a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from agentwatch.output.redact.decoding import decoded, rewritten
from agentwatch.output.redact.mask import Found, Heads, Masks, joined
from agentwatch.output.redact.personal import Personal
from agentwatch.output.redact.secrets.cells import arguments, cells
from agentwatch.output.redact.secrets.contexts import surrounded
from agentwatch.output.redact.secrets.key_files import shown
from agentwatch.output.redact.secrets.labels import labelled, labelled_abroad
from agentwatch.output.redact.secrets.prefixed import LONG_WORD, SPLITTING, may_begin, plain, tokens
from agentwatch.output.redact.secrets.values import is_name, is_random

_NAMES = """
ably agora persona mailersend qovery seam asaas aikido appfigures backblaze
abuseipdb accuweather adafruit adobe adyen airbrake airship airtable aiven akamai alchemy algolia alienvault
amplitude anthropic anyscale apideck apiflash apilayer apilo appcues appfollow appsignal appwrite
artifactory artsy asana assemblyai atera atlassian auth0 authress aviationstack aws aylien ayrshare azure
backblaze bannerbear baremetrics basecamp baseten beamer betterstack binance bitbucket bitfinex bitly bitmex
bittrex blazemeter blocknative braintree brandfetch browserstack browshot bugherd bugsnag buildkite bunnycdn
buttercms buymeacoffee bybit calendly capsulecrm caspio chargebee chargify chartmogul chatwork checkmarx
checkr civo clarifai clearbit clickhouse clicksend clickup clockify clojars cloudant cloudconvert cloudflare
cloudinary cloudmersive cloudsmith cockroach codacy codeclimate codecov codemagic codeship cohere coinapi
coinbase coinlayer coinmarketcap commercejs confluent consul contabo contentful convertapi convertkit
couchbase coveralls cratedb crossbrowsertesting crowdin cryptocompare currencycloud currencylayer
currentsapi customerio databox databricks datadog datarobot deepai deepgram deepl deepseek delighted
detectify dgraph dialpad diffbot digitalocean discord disqus dnsimple docparser docusign doppler dotdigital
droneci dropbox dwolla dynatrace easypost edamam edenai elastic elevenlabs etherscan etsy eventbrite
eventful everhour exchangerate exoscale facebook faceplusplus fastly fauna fibery figma fileio filestack
finicity finnhub firebase fireworks flickr flightstats flutterwave formio foursquare frameio freemius
freshbooks freshdesk freshworks fullstory fusionauth gandi gcore gengo geoapify geocodio getresponse giphy
gitbook gitea gitter glassdoor glassnode gocardless godaddy grafana graphcms graphhopper gravatar groovehq
groq gumroad gyazo happyscribe hashicorp hasura hellosign helpcrunch helpscout heroku herokuapp hetzner
hiveage holidayapi honeybadger honeycomb hostinger hubspot huggingface hygraph hyperbolic iconfinder
imagekit imagga imgix imgur influxdb infura insightly instagram instamojo intercom intrinio ipapi
ipgeolocation ipinfo ipstack iterable jenkins jfrog jira jotform jsonbin jumpcloud kaggle kagi kamatera
keenio keycdn kickbox kickstarter killbill klaviyo knapsackpro kofi kontent kraken kucoin lacework langchain
lastfm launchdarkly leanplum lemlist lemonsqueezy linkedin linkpreview linode livechat livestorm lob
locationiq logdna logglly loggly loginradius lokalise looker losant loyverse luno mailboxlayer mailchimp
mailerlite mailgun mailjet mailsac mandrill mapbox mapquest maptiler marketo marketstack mattermost maxmind
mediastack meetup meistertask memberstack meraki messagebird metabase midjourney miro mistral mixmax
mixpanel mockaroo moesif mongodb monkeylearn moosend moralis namecheap nasdaq nethunt netlify newrelic nexmo
ngrok nhost nightfall notion novita nozbe nutritionix nylas nytimes oanda octopus okta okx onelogin
onesignal onfido onfleet openai openuv openweather openweathermap opsgenie optidash optimizely ovh
packagecloud pagerduty pandadoc paperform paperspace papertrail pastebin patreon paydirt paymo paypal
paystack pepipost perplexity phantombuster pinata pinecone pingdom pinterest pipedrive pivotaltracker plaid
planetscale planyo plivo podio poloniex porkbun positionstack posthog postmark postmates prismic privateai
prodpad prospectcrm proxycrawl pubnub pulumi purestake pusher qdrant qualaroo qualtrics quickbase
quickmetrics rabbitmq rapidapi raygun rebrandly recaptcha recurly reddit refiner replicate replit
ringcentral riotgames ritekit rollbar roninapp route4me rubygems runpod salesblink salesforce samsara sanity
satismeter sauce saucelabs scaleway scraperapi scrapingbee screenshotapi securitytrails selectpdf sendbird
sendgrid sendinblue sentry serpapi serper shipday shippo shodan shopify shutterstock sidekiq signalwire
sigopt simplesat singlestore sirv siteleaf skrapp skybiometry slack slideshare smartsheet smartystreets
smooch snowflake snyk solscan sonarqube soundcloud sourcegraph sparkpost speechtextai splunk sportsmonk
spotify squarespace stability stabilityai stackhawk statuscake statuspage stockdata stormglass storyblok
strava stripe stytch sumo sumologic supabase surveymonkey survicate swiftype talkdesk tatum tavily tefter
telegram teletype telnyx tencent terraform ticketmaster tickspot tiktok timescale timezoneapi tineye
tinybird tmdb todoist tomtom transloadit travelpayouts travis trello trustpilot twilio twitch twitter tyntec
typeform typetalk uberduck unsplash upcdatabase upcloud uplead uploadcare uptimerobot upwave urlscan
userflow userstack vastai vbout vercel viewneo vimeo virustotal voicegain vonage vpnapi vultr vyte wakatime
walkscore wandb weatherapi weatherbit weatherstack weaviate webex webflow webscraper wepay whoisxmlapi whoxy
wistia workato workday worldweather wrike xata yandex yelp yousign youtube yugabyte zapier zapierwebhook
zendesk zenkit zenscrape zenserp zerobounce zerotier zipapi zipcodeapi zoho zonkafeedback zoom
"""
_COMMON_NAMES = """
apollo aws azure branch circle docker firebase ghost github gitlab google harness linear microsoft
monday notion npm openai segment square together
"""
_COMMON = frozenset(_COMMON_NAMES.split())
"""Names that are words of other texts too: the value must follow them at once."""
_BY_HEAD: dict[str, list[str]] = {}
for _name in sorted({*_NAMES.split(), *_COMMON}):
    _BY_HEAD.setdefault(_name[:4], []).append(_name)
_REACH = 90
_AT_ONCE = re.compile(
    r"[A-Za-z0-9_-]{0,40}[\"'\]]{0,2}[ ]{0,4}(?:[:=]{1,2}>?|\()[ ]{0,4}"
    r"[\"'`]([A-Za-z0-9_.~+/=-]{14,300})[\"'`]"
)
_VALUE = re.compile(r"[^A-Za-z0-9_+/.@#-]([A-Za-z0-9][A-Za-z0-9_.~+/=-]{14,300}(?::[A-Za-z0-9_-]{2,64})?)")
_UNLIKE = re.compile(
    r"(?i)commit|sha[0-9-]|hash|digest|checksum|etag|\brev|md5|h1:|integrity|version|image|resolved"
    r"|public|https?:|node_modules|module|import|require|uuid|guid|backup|parent|request|trace|span|session"
    r"|event|message|blob|pull/|\.git"
    r"|(?:[^t][_ ]|[\"'])id\b"
)
_LEAST_TOKEN_LENGTH, _MOST_TOKEN_LENGTH = 15, 128


def _of_providers(piece: str, lower: str, heads: Heads) -> Iterator[Found]:
    """Yield the generated values that follow the name of a vendor in the same line."""
    for head in heads & _BY_HEAD.keys():
        for name in _BY_HEAD[head]:
            at = lower.find(name)
            while at >= 0:
                after = at + len(name)
                if name not in _COMMON:
                    yield from _near(piece, lower, after, name)
                elif (match := _AT_ONCE.match(piece, after)) and _is_token(match[1]):
                    yield Found(*match.span(1), name)
                at = lower.find(name, after)


def _near(piece: str, lower: str, after: int, name: str) -> Iterator[Found]:
    line_end = piece.find("\n", after, after + _REACH)
    end = after + _REACH if line_end < 0 else line_end
    for match in _VALUE.finditer(piece, after, end + _MOST_TOKEN_LENGTH if line_end < 0 else end):
        value = match[1].rstrip(".=")
        if match.start() >= end or _UNLIKE.search(lower, after, match.start() + 1):
            return
        if _is_token(value):
            yield Found(match.start(1), match.end(1), name)


def _is_token(value: str) -> bool:
    return (
        len(value) <= _MOST_TOKEN_LENGTH
        and any(map(str.isdigit, value))
        and is_random(value, _LEAST_TOKEN_LENGTH)
    )


_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}|Private-Lines:[ ]{0,2}[0-9]{1,4}"
)
_BODY = re.compile(r"[A-Za-z0-9+/=,:.?\s\\\"'>|_-]{0,1000}")
_LINE = re.compile(r"[\s\\\"'>+|,]{0,80}(?:[0-9]{1,6}[?:|\t][ ]?)?[A-Za-z0-9+/=]{16,1000}")
_TAIL_LINE = re.compile(
    r"[\s\\\"'>+|,]{0,80}(?:[0-9]{1,6}[?:|\t ][ ]?)?([A-Za-z0-9+/]{1,1000}={0,2})[\s\\\"'+,]{0,80}"
)
_RUN_OF_KEY = re.compile("[A-Za-z0-9+/]{16}")
_END_LINE = re.compile(r"-----END [A-Z0-9 ]{0,60}-{4,5}")
_BEGIN_LITERALS = ("PRIVATE KEY", "Private-Lines:")
_END_LITERAL = "-----END"
_MOST_BLOCK_LENGTH = 1 << 16
_RUN = re.compile("[A-Za-z0-9_-]{1,1000}")
_HEAD = "eyJ"
_FEWEST, _MOST = 3, 5


def _key_blocks(text: str) -> Iterator[Found]:
    """Yield the blocks of private keys in a plain text: to the end line, or to the last line of base64."""
    if not any(literal in text for literal in _BEGIN_LITERALS):
        return
    begin, closing = _BEGIN.search(text), 0
    while begin is not None:
        start = begin.end()
        if 0 <= closing < start:
            closing = text.find(_END_LITERAL, start)
        body_end = _end_of_body(text, start)
        end = body_end
        if 0 <= closing < start + _MOST_BLOCK_LENGTH and _is_body(text, start, closing):
            match = _END_LINE.match(text, closing)
            end = closing if match is None else match.end()
        if end > start:
            yield Found(begin.start(), end, "private key")
        begin = _BEGIN.search(text, max(start, end))
    yield from _key_tails(text)


def _key_tails(text: str) -> Iterator[Found]:
    """Yield the last lines of private keys whose first line is missing in a plain text."""
    at = text.find(_END_LITERAL)
    while at >= 0:
        match = _END_LINE.match(text, at)
        if match is not None and "PRIVATE KEY" in match[0]:
            start = _start_of_tail(text, at)
            if start < at:
                yield Found(start, match.end(), "private key")
        at = text.find(_END_LITERAL, at + 1)


def _start_of_tail(text: str, end: int) -> int:
    """Return where the lines of base64 begin that end at a place."""
    start, at = end, max(text.rfind("\n", 0, end), 0)
    while at > 0 and end - at < _MOST_BLOCK_LENGTH:
        before = text.rfind("\n", 0, at) + 1
        line = text[before:at]
        match = _TAIL_LINE.fullmatch(line)
        if match is None and line.strip(" \t\r\\\"',"):
            break
        if match is not None:
            start = before + match.start(1)
        at = before - 1
    has_line = start < end and _RUN_OF_KEY.search(text, start, end) is not None
    return start if has_line else end


def _end_of_body(text: str, start: int) -> int:
    """Return where the lines of base64 end that begin at a place, perhaps after lines of headers."""
    at = start
    while (match := _LINE.match(text, at)) is not None and at - start < _MOST_BLOCK_LENGTH:
        at = match.end()
    return at


def _is_body(text: str, start: int, end: int) -> bool:
    """Return whether a block has only characters of a key, its headers, and of quoting."""
    at = start
    while at < end:
        match = _BODY.match(text, at, end)
        if match is None or match.end() == at:
            return False
        at = match.end()
    return True


def _signed_tokens(piece: str) -> Iterator[Found]:
    """Yield the JSON web tokens of a piece: parts of base64 with dots between, the first a JSON object."""
    at = piece.find(_HEAD)
    while at >= 0:
        end, parts = at, 0
        if at == 0 or not piece[at - 1].isalnum():
            end, parts = _parts(piece, at)
        has_two_objects = parts == _FEWEST - 1 and piece.startswith(_HEAD, piece.find(".", at) + 1)
        if parts >= _FEWEST or has_two_objects:
            yield Found(at, end, "jwt")
        at = piece.find(_HEAD, max(end, at + 1))


def _parts(piece: str, start: int) -> tuple[int, int]:
    """Return where a token ends, and the number of its parts; 0 if one is too short."""
    end, parts = start, 0
    while parts < _MOST:
        first = end
        while match := _RUN.match(piece, end):
            end = match.end()
        if end - first < _SHORTEST and not (parts == 1 and piece.startswith(".", end)):
            break
        parts += 1
        if not piece.startswith(".", end):
            return end, parts
        end += 1
    return end - 1, parts


_BREAK = re.compile(r"\n(?:[A-Za-z0-9_+/=.~-]{2}|[ \t]{0,40}(?:[+.&][ ]{0,2})?[\"'`][A-Za-z0-9])")
_NEXT = re.compile(r"[A-Za-z0-9_+/=.~-]{1,600}")
_QUOTED_END = re.compile(r"[\"'`][ \t]{0,2}[+.&\\]?[ \t]{0,2}\r?$")
_INDICATION = re.compile("(?i)pass|pwd|secret|token|key|cred|auth|bearer|sig|cookie|eyJ|://")
_OF_TOKENS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~-"
_NOT_AFTER = frozenset(":=(")
_LEAST = 8
_MOST_WRAPPED_LENGTH = 200
_WIDE = 60
"""The least width of a terminal, in characters: a shorter line was not wrapped by one."""
OPEN_KINDS = frozenset(
    (
        *("address code", "authorization", "basic auth", "bearer token", "cookie", "credential", "curl"),
        *("http", "key", "key file", "minio", "password", "secret", "smb", "token", "url password"),
        "url token",
    )
)
"""The kinds of values that have no length of their own."""


def wrapped(text: str, whole: Iterable[Found], find: Callable[[str], Iterable[Found]]) -> Iterator[Found]:
    """Yield the secrets that continue in the next line."""
    breaks = sorted({*_breaks(text)})
    if not breaks:
        return
    joined = rewritten(text, [(start, end, "") for start, end in breaks])
    found = [(*joined.span(each.start, each.end), each.kind) for each in find(joined.text)]
    if not found:
        return
    ended = {each.end for each in whole}
    for start, end, kind in found:
        inside = [each for each in breaks if start < each[0] and each[1] < end]
        if inside and _goes_on(
            text, inside, end, is_known=kind not in OPEN_KINDS and inside[0][0] not in ended
        ):
            yield Found(start, end, kind)


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of what separates two lines that may be one token."""
    done = 0
    for match in _BREAK.finditer(text):
        at, end = match.start(), match.end()
        is_quoted = text[end - 2] in "\"'`"
        if not is_quoted and " " in text[at - _LEAST : at]:
            continue
        first = max(
            done, at - _MOST_WRAPPED_LENGTH, text.rfind("\n", max(0, at - _MOST_WRAPPED_LENGTH), at) + 1
        )
        line = text[first:at]
        if is_quoted:
            quote = _QUOTED_END.search(line)
            if quote is None:
                continue
            line, end = line[: quote.start()], end - 1
        else:
            line, end = line.rstrip("\r\\"), at + 1
        run = line[len(line.rstrip(_OF_TOKENS)) :]
        if len(run) >= _LEAST and not _is_word(run.rstrip("=")) and _may_go_on(text, end):
            goes_on = first == done > 0
            if goes_on or _INDICATION.search(line) or may_begin(run):
                yield first + len(line), end
                done = end


def _may_go_on(text: str, at: int) -> bool:
    """Return whether the line that begins at a place may go on with a token of the line before."""
    match = _NEXT.match(text, at)
    if match is None or "=" in match[0].rstrip("="):
        return False
    following = text[match.end() : match.end() + 1]
    return not (following and following in _NOT_AFTER) and not (
        _is_word(match[0]) and following in {" ", "\t"}
    )


def _is_word(run: str) -> bool:
    """Return whether some characters of tokens are a word, or have no letters and digits."""
    return (run.isalpha() and run[1:].islower()) or not any(map(str.isalnum, run))


def _goes_on(text: str, breaks: list[tuple[int, int]], end: int, *, is_known: bool) -> bool:
    """Return whether the line after a break continues a token, rather than begin with another word."""
    tail = text[breaks[-1][1] : end]
    if "=" in tail.rstrip("=") or ":" in tail or text[end : end + 1] in _NOT_AFTER:
        return False
    is_mixed = any(map(str.isdigit, tail)) and not is_name(tail)
    if is_known or is_mixed:
        return True
    start = breaks[0][0]
    is_wide = start - text.rfind("\n", 0, start) > _WIDE
    return is_wide and not _is_word(tail)


_SHORTEST = 8
"""No secret is shorter than this with what shows that it is one."""
_LEAST_WORD = 20
"""Letters alone that are fewer are a word."""
_STEP = 16 << 10
_OVERLAP = 4 << 10
"""Characters that a piece shares with the next one: no secret with its label is longer."""
_BEFORE = 96
"""Characters before a piece that show where its first word begins, and its label."""


def find(text: str) -> list[Found]:
    """Return where a text has secrets, sorted and without overlaps, in linear time: 16 KiB of ordinary text
    take about 1 ms. It is best decoded: inside a JSON string, escapes hide where a secret begins."""
    if len(text) < _SHORTEST or (len(text) < _LEAST_WORD and text.isalpha()):
        return []
    whole = plain(text)
    found = _in_text(text, whole)
    for view in (decoded(text), arguments(text)):
        if view is not None:
            found += [Found(*view.span(each.start, each.end), each.kind) for each in _in_text(view.text)]
    found += wrapped(whole, found, _in_text)
    return joined(found) if found else found


def _in_text(text: str, view: str = "") -> list[Found]:
    """Return the secrets of a text, in any order; they may overlap. `view` is the plain text, if known."""
    view = view or plain(text)
    found = [*_key_blocks(view), *cells(view)]
    for start in range(0, len(view), _STEP):
        first = max(0, start - _BEFORE)
        piece = slice(first, start + _STEP + _OVERLAP)
        found += [
            Found(first + each.start, first + each.end, each.kind)
            for each in _in_piece(view[piece], text[piece])
            if first + each.start < start + _STEP and first + each.end > start
        ]
    return found


def _in_piece(piece: str, text: str) -> Iterator[Found]:
    """Yield the secrets of a piece, those that are known best first."""
    words = set(piece.encode("ascii").translate(SPLITTING).split())
    heads = {head.decode("ascii") for head in {word[:4] for word in words}}
    long_words = {word.decode("ascii") for word in words if len(word) > LONG_WORD}
    yield from tokens(piece, long_words, heads)
    if "eyJ" in piece:
        yield from _signed_tokens(piece)
    lower = piece.lower()
    heads = {head.lower() for head in heads}
    yield from surrounded(piece, lower, heads, max(map(len, long_words), default=LONG_WORD))
    yield from labelled(piece, lower)
    yield from labelled_abroad(piece, text, heads)
    yield from shown(piece, heads)
    yield from _of_providers(piece, lower, heads)


def masked(text: str, personal: Personal, masks: Masks) -> str:
    """Return a text without personal data, and without secrets that can be recognised in it alone."""
    shown, at = "", 0
    for each in joined([*find(text), *personal.find(text)]):
        shown += text[at : each.start] + masks.mask(text[each.start : each.end], each.kind)
        at = each.end
    return shown + text[at:]
