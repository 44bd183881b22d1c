"""Finds tokens without a prefix by the name of their vendor before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.values import is_random

_NAMES = """
adafruit adobe adyen airbrake airtable aiven algolia alchemy amplitude anthropic appsignal appwrite
artifactory asana assemblyai atlassian auth0 authress aws azure backblaze baremetrics basecamp binance
bitbucket bitfinex bitly bittrex braintree brandfetch browserstack bugsnag buildkite calendly chargebee
chargify chatwork clearbit clickhouse clickup clojars cloudant cloudflare cloudinary cockroach codacy
codecov codeclimate cohere coinbase coinmarketcap confluent consul contentful convertkit coveralls crowdin
customerio databricks datadog datarobot deepgram deepl deepseek delighted detectify digitalocean discord
disqus docusign doppler droneci dropbox dynatrace easypost elastic elevenlabs eventbrite etherscan etsy
facebook fastly figma finicity finnhub firebase flickr flutterwave foursquare frameio freshbooks freshdesk
fullstory fusionauth giphy gitea gitter gocardless grafana groq gumroad hashicorp helpscout heroku hetzner
honeybadger honeycomb hubspot huggingface imgur infura instagram ipinfo ipstack iterable jenkins jfrog jira
jotform kaggle klaviyo kraken kucoin lastfm launchdarkly linkedin linode livechat lob logdna logglly loggly
losant luno mailchimp mailgun mailjet mandrill mapbox maptiler mattermost maxmind meraki messagebird mistral
mixpanel moesif mongodb namecheap netlify newrelic nexmo ngrok nightfall notion nutritionix nylas nytimes
octopus okta onelogin onesignal openai openweather openweathermap opsgenie optimizely pagerduty pastebin
paypal paystack perplexity pinata pingdom pinterest pipedrive plaid planetscale plivo postmark posthog
prismic privateai pubnub pulumi pusher rabbitmq rapidapi recaptcha reddit rollbar route4me rubygems runpod
samsara salesforce sauce saucelabs scaleway scrapingbee sendbird sendgrid sendinblue sentry serpapi shippo
shodan shopify sidekiq signalwire slack smartsheet snowflake snyk sonarqube soundcloud sourcegraph sparkpost
splunk spotify squarespace statuspage stability storyblok stormglass strava stripe stytch sumologic supabase
surveymonkey tatum telegram telnyx tencent terraform tiktok todoist tomtom travis trello twilio twitch
twitter typeform uberduck unsplash uploadcare uptimerobot vercel vimeo virustotal vonage vultr wakatime
wandb weatherapi weatherbit webex webflow wepay whoxy wistia workato worldweather yandex yelp zapier zendesk
zenscrape zoho zoom
"""
_BY_HEAD: dict[str, list[str]] = {}
for _name in _NAMES.split():
    _BY_HEAD.setdefault(_name[:4], []).append(_name)
_REACH = 90
_VALUE = re.compile(r"[^A-Za-z0-9_+/.=@#-]([A-Za-z0-9][A-Za-z0-9_.~+/=-]{14,300})")
_UNLIKE = re.compile(
    r"(?i)commit|sha[0-9-]|hash|digest|checksum|etag|\brev|md5|integrity|\bid\b|_id\b|version|image|resolved"
    r"|public|https?:|node_modules|module|import|require"
)
_LONGEST = 128


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
                yield from _near(piece, lower, after, name)
                at = lower.find(name, after)


def _near(piece: str, lower: str, after: int, name: str) -> Iterator[Found]:
    """Yield the generated values that follow a name at a place."""
    line_end = piece.find("\n", after, after + _REACH)
    end = after + _REACH if line_end < 0 else line_end
    for match in _VALUE.finditer(piece, after, end + _LONGEST if line_end < 0 else end):
        value = match[1].rstrip(".=")
        if match.start() >= end or _UNLIKE.search(lower, after, match.start() + 1):
            return
        if len(value) <= _LONGEST and is_random(value, 20):
            yield Found(match.start(1), match.end(1), name)
