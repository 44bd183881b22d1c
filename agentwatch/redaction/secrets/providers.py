"""Finds tokens without a prefix by the name of their vendor before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.values import is_random

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
_SHORTEST, _LONGEST = 15, 128


def of_providers(piece: str, lower: str, heads: set[str]) -> Iterator[Found]:
    """Yield the generated values that follow the name of a vendor in the same line.

    Args:
        piece: A piece of a plain text.
        lower: The same in lower case.
        heads: The first four characters of each of its words, in lower case.
    """
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
    """Yield the generated values that follow a name at a place."""
    line_end = piece.find("\n", after, after + _REACH)
    end = after + _REACH if line_end < 0 else line_end
    for match in _VALUE.finditer(piece, after, end + _LONGEST if line_end < 0 else end):
        value = match[1].rstrip(".=")
        if match.start() >= end or _UNLIKE.search(lower, after, match.start() + 1):
            return
        if _is_token(value):
            yield Found(match.start(1), match.end(1), name)


def _is_token(value: str) -> bool:
    """Return whether a value near a name is a generated token."""
    return len(value) <= _LONGEST and any(map(str.isdigit, value)) and is_random(value, _SHORTEST)
