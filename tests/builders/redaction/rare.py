"""Tokens of rarer vendors, in contexts that the rules were not written with."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.builders.redaction.templates import Planted, planted

_LINES = r"""
adafruit            | io = AdafruitIO('ada_l', '«aio_<an:28>»')
adobe               | ADOBE_CLIENT_SECRET='«p8e-<an:32>»'
adyen               | adyen.checkout.apiKey: «<an:60>»
airbrake            | Airbrake.configure { |c| c.project_key = '«<hex:32>»' }
airtable            | Airtable.configure({ apiKey: '«pat<an:14>.<hex:64>»' })
aiven               | avn_pw = "«AVNS_<url:19>»"
algolia             | const client = algoliasearch('BH4D9OD16A', '«<hex:32>»');
alibaba             | <accessKeyId>«LTAI<an:20>»</accessKeyId>
alibaba secret      | alibaba_cloud_access_key_secret = «<an:30>»
amplitude           | amplitude.init("«<hex:32>»")
appsignal           | APPSIGNAL_PUSH_API_KEY: «<uuid>»
artifactory         | curl -H "X-JFrog-Art-Api: «AKCp<an:69>»" https://art/x
artifactory ref     | ARTIFACTORY_REFERENCE=«cmVmdGtuOjAxOj<an:48>»
asana               | asana: 'Bearer «1/<num:16>:<hex:32>»'
assemblyai          | aai.settings.api_key = "«<hex:32>»"
atlassian           | JIRA_TOKEN := "«ATATT3xFfGF0<url:170>=<HEX:8>»"
auth0               | AUTH0_CLIENT_SECRET="«<url:64>»"
authress            | authressClient = new Client("«sc_<low:14>.<low:4>.acc_<low:12>.<b64:64>»")
aws session         | aws_session_token = «<b64:300>»
aws pair            | AKIA<b32:16>,«<b64:40>»
azure ad            | client_secret: "«<an:3>8Q~<url:34>»"
azure devops        | git config http.extraheader "AUTHORIZATION: bearer «<low:52>»"
azure sas           | https://acct.blob.core.windows.net/c/f?sv=2022-11-02&se=2026-12-01&sp=r&sig=«<an:43>%3D»
azure service bus   | Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«<b64:43>=»
azure openai        | AzureOpenAI(api_key='«<an:52>JQQJ99BAAC<an:22>»')
azure function      | https://fn.azurewebsites.net/api/run?code=«<url:54>==»
beamer              | beamer_key: b_«<low:44>»
binance             | Client(api_key, api_secret='«<an:64>»')
bitbucket           | bitbucket_app_password: «ATBB<an:24><HEX:8>»
bitly               | bitly_access_token => '«<hex:40>»'
box                 | BOX_DEVELOPER_TOKEN='«<an:32>»'
braintree           | «access_token$production$<low:16>$<hex:32>»
brave               | BRAVE_API_KEY=«BSA<url:28>»
brevo               | api-key: «xkeysib-<hex:64>-<an:16>»
browserstack        | browserstack.key=«<an:20>»
bugsnag             | Bugsnag.start({ apiKey: '«<hex:32>»' })
buildkite           | buildkite-agent start --token "«<hex:50>»"
buildkite api       | BUILDKITE = '«bkua_<hex:40>»'
cerebras            | client = Cerebras(api_key="«csk-<low:48>»")
circleci            | circleci setup --token «CCIPAT_<an:22>_<hex:40>»
clickhouse          | clickhouse keySecret «4b1d<an:38>»
clickup             | Authorization: «pk_<num:8>_<up:32>»
clojars             | :password "«CLOJARS_<hex:60>»"
cloudflare          | "cloudflare_token": "«<url:40>»"
cloudflare global   | X-Auth-Key: «<hex:37>»
cloudflare ca       | «v1.0-<hex:24>-<hex:146>»
cloudinary          | CLOUDINARY_URL=cloudinary://<num:15>:«<url:27>»@demo
cloudsmith          | CLOUDSMITH_API_KEY=«<hex:40>»
codecov             | codecov -t «<uuid>»
cohere              | co = cohere.Client('«<an:40>»')
coinbase            | CB-ACCESS-SECRET: «<b64:86>==»
confluent           | sasl.jaas.config=PlainLoginModule required username="K7" password="«<b64:64>»";
contentful          | contentful: { managementToken: '«CFPAT-<url:43>»' }
crates              | cargo login «cio<an:32>»
cratesio file       | [registry]\ntoken = "«cio<an:32>»"
datadog             | DD_API_KEY=«<hex:32>»
datadog app         | datadog.initialize(app_key='«<hex:40>»')
deepgram            | Deepgram("«<hex:40>»")
deepseek            | deepseek: sk-«<hex:32>»
discord bot         | client.login('«MTA<an:21>.<an:6>.<url:38>»');
discord hook        | https://discord.com/api/webhooks/<num:18>/«<url:68>»
discord secret      | DISCORD_CLIENT_SECRET=«<url:32>»
django              | SECRET_KEY = 'django-insecure-«<low:50>»'
docker auth         | {"auths": {"https://index.docker.io/v1/": {"auth": "«<b64:36>»"}}}
doppler             | doppler configure set token «dp.pt.<an:43>»
doppler service     | DOPPLER_TOKEN="«dp.st.prd.<an:43>»"
droneci             | DRONE_TOKEN=«<an:32>»
dropbox             | dbx = dropbox.Dropbox("«sl.u.<url:140>»")
dropbox short       | dropbox: { appSecret: "«<low:15>»" }
duffel              | duffel = new Duffel({ token: '«duffel_live_<url:43>»' })
dynatrace           | Api-Token «dt0c01.<up:24>.<up:64>»
easypost            | easypost.api_key = '«EZAK<an:54>»'
elastic             | Authorization: ApiKey «<an:58>==»
elevenlabs          | -H "xi-api-key: «sk_<hex:48>»"
etsy                | etsy_keystring: «<low:24>»
facebook            | facebookAppSecret: «<hex:32>»
facebook token      | https://graph.facebook.com/me?access_token=«EAA<an:170>»
fastly              | Fastly-Key: «<url:32>»
fcm                 | Authorization: key=«AAAA<url:7>:APA91b<url:134>»
figma               | X-Figma-Token: «figd_<url:40>»
finnhub             | finnhub.apiKey = '«<low:20>»'
firecrawl           | FirecrawlApp(api_key="«fc-<hex:32>»")
fly                 | FLY_API_TOKEN="FlyV1 «fm2_<b64:200>»"
flutterwave         | secretKey: «FLWSECK_TEST-<hex:32>-X»
frameio             | frameio = "«fio-u-<url:64>»"
freshdesk           | freshdesk_api => «<an:20>»
ghost               | GHOST_ADMIN_API_KEY=<hex:24>:«<hex:64>»
gitea               | gitea_token=«<hex:40>»
github app          | https://x-access-token:«ghs_<an:36>»@github.com/o/r.git
github oauth        | remote: https://«gho_<an:36>»@github.com/o/r
gitlab runner       | gitlab-runner register --registration-token «GR1348941<url:20>»
gitlab deploy       | deploy: «gldt-<url:20>»
gocardless          | gocardless_token: "«live_<url:40>»"
grafana cloud       | GRAFANA = "«glc_eyJ<b64:90>=»"
grafana old         | curl -H "Authorization: Bearer «eyJrIjoi<b64:84>==»" host
groq                | Groq({ apiKey: "«gsk_<an:52>»" })
harness             | HARNESS_PAT=«pat.<url:22>.<hex:24>.<an:20>»
heroku              | heroku: HEROKU_API_KEY = <hex:0>«<uuid>»
heroku new          | password «HRKU-AA<url:58>»
honeycomb           | x-honeycomb-team: «<an:22>»
htpasswd            | ada:«$apr1$<an:8>$<an:22>»
hubspot             | hubspotClient = new Client({ accessToken: '«pat-na1-<uuid>»' })
ibm                 | ibm_cloud_api_key: «<url:44>»
infracost           | INFRACOST_API_KEY=«ico-<an:32>»
infura              | https://mainnet.infura.io/v3/«<hex:32>»
intercom            | intercom_access_token: «dG9rO<an:54>=»
jdbc                | jdbc:sqlserver://h:1433;databaseName=d;user=sa;password=«<an:12>!»;encrypt=true
jenkins             | JENKINS_API_TOKEN=«11<hex:32>»
jwe                 | token=«eyJ<url:40>.<url:100>.<url:16>.<url:80>.<url:22>»
k8s secret          | kind: Secret\ndata:\n  password: «<an:20>==»
kubeconfig          |     client-key-data: «LS0tLS1CRUdJTi<an:200>=»
kraken              | kraken_private_key = "«<b64:86>==»"
langfuse            | LANGFUSE_SECRET_KEY="«sk-lf-<uuid>»"
langsmith           | LANGCHAIN_API_KEY=«lsv2_pt_<hex:32>_<hex:10>»
launchdarkly        | LDClient("«sdk-<uuid>»")
linear              | linear: «lin_api_<an:40>»
linkedin            | linkedin-client-secret = "«<an:16>»"
linode              | linode-cli --token=«<hex:64>»
lob                 | lob = Lob('«live_<hex:35>»')
mailchimp           | mailchimp.setConfig({ apiKey: "«<hex:32>-us14»", server: "us14" })
mailgun             | curl -s --user 'api:«key-<hex:32>»' https://api.mailgun.net/v3
mailgun new         | mailgun.client({ username: 'api', key: '«<hex:32>-<hex:8>-<hex:8>»' })
mapbox              | mapboxgl.accessToken = '«sk.eyJ<url:80>.<url:22>»';
mattermost          | mattermost_access_token: «<low:26>»
maxmind             | LicenseKey «<an:6>_<an:29>_mmk»
messagebird         | messagebird: "«<low:25>»"
mistral             | MistralClient(api_key="«<an:32>»")
mollie              | mollie.setApiKey("«live_<an:30>»")
mongo cli           | mongosh "mongodb://h/db" -u admin -p «<an:11>»
mssql               | Server=tcp:db,1433;User ID=sa;Password=«<pw:14>»;Encrypt=True
mysql cnf           | [client]\nuser=root\npassword="«<pw:13>»"
nebula              | «dnkey-<an:26>-<an:52>»
netlify             | NETLIFY_AUTH_TOKEN=«nfp_<an:36>»
netrc               | machine api.github.com login ada password «<hex:40>»
netrc lines         | machine ftp.host\n  login ada\n  password «<an:14>»
new relic           | NEW_RELIC_LICENSE_KEY: «<hex:36>NRAL»
new relic user      | Api-Key: «NRAK-<up:27>»
ngrok               | ngrok config add-authtoken «2<an:26>_<an:21>»
notion              | const notion = new Client({ auth: "«ntn_<an:46>»" })
notion old          | NOTION_KEY=«secret_<an:43>»
npmrc               | //registry.npmjs.org/:_authToken=«<uuid>»
npmrc basic         | _auth=«<b64:40>»
nuget               | dotnet nuget push x.nupkg -k «oy2<low:43>» -s https://api.nuget.org/v3
nvidia              | NVIDIA_API_KEY='«nvapi-<url:64>»'
octopus             | X-Octopus-ApiKey: «API-<up:26>»
okta                | Authorization: SSWS «00<url:40>»
okta token          | okta_api_token = "«00<url:40>»"
onepassword         | OP_SERVICE_ACCOUNT_TOKEN=«ops_eyJ<an:300>»
onepassword key     | Secret Key: «A3-<up:6>-<up:6>-<up:5>-<up:5>-<up:5>-<up:5>»
openshift           | oc login --token=«sha256~<url:43>» --server=https://c:6443
openweather         | https://api.openweathermap.org/data/2.5/weather?q=x&appid=«<hex:32>»
opsgenie            | Authorization: GenieKey «<uuid>»
pagerduty           | PagerDuty token: Token token=«<url:20>»
paypal              | paypal_client_secret: "«E<url:79>»"
perplexity          | pplx = "«pplx-<an:48>»"
pgpass              | db.host:5432:app:ada:«<an:15>»
pinecone            | Pinecone(api_key="«pcsk_<an:6>_<an:60>»")
plaid               | plaid_secret=«<hex:30>»
plaid access        | access_token: "«access-production-<uuid>»"
planetscale         | password := "«pscale_pw_<url:43>»"
postman             | X-API-Key: «PMAK-<hex:24>-<hex:34>»
posthog             | POSTHOG_PERSONAL_API_KEY=«phx_<an:47>»
prefect             | prefect cloud login -k «pnu_<an:36>»
pulumi              | PULUMI_ACCESS_TOKEN="«pul-<hex:40>»"
putty               | PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\n«<an:64>\n<an:64>»
rabbit              | amqps://svc:«<an:22>»@rabbit.internal/vhost
rails               | secret_key_base: «<hex:128>»
rapidapi            | 'x-rapidapi-key': '«<low:50>»'
razorpay            | key_secret: '«<an:24>»'
readme              | rdme docs --key «rdme_xn8s9h<low:64>»
redis conf          | requirepass «<an:16>»
render              | RENDER=«rnd_<an:32>»
resend              | new Resend('«re_<an:8>_<an:24>»')
rollbar             | rollbar_access_token = "«<hex:32>»"
rubygems            | :rubygems_api_key: «rubygems_<hex:48>»
runpod              | RUNPOD_API_KEY=«rpa_<up:42>»
salesforce          | sessionId: «00D<an:12>!AQ<an:90>»
scaleway            | SCW_SECRET_KEY=«<uuid>»
sendbird            | sendbird_api_token: «<hex:40>»
sentry              | SENTRY_AUTH_TOKEN=«sntrys_eyJ<an:120>_<b64:43>»
sentry user         | authToken: "«sntryu_<hex:64>»"
sentry dsn          | dsn: 'https://«<hex:32>»@o123.ingest.sentry.io/42'
shippo              | shippo = "«shippo_live_<hex:40>»"
slack hook          | https://hooks.slack.com/services/«T<up:8>/B<up:10>/<an:24>»
slack legacy        | SLACK: "«xoxp-<num:12>-<num:12>-<num:12>-<hex:32>»"
slack refresh       | «xoxe-1-<an:146>»
snyk                | SNYK_TOKEN=«<uuid>»
sonar               | sonar.login=«sqp_<hex:40>»
sourcegraph         | SRC_ACCESS_TOKEN=«sgp_<hex:40>»
splunk              | Authorization: Splunk «<uuid>»
spotify             | spotify_client_secret = "«<hex:32>»"
square              | Authorization: Bearer «EAAA<url:60>»
square oauth        | square: "«sq0csp-<url:43>»"
ssh pass            | ansible_ssh_pass=«<pw:9>»
stripe restricted   | stripe.api_key = "«rk_test_<an:24>»"
sumologic           | sumo_access_key = "«<an:64>»"
supabase            | supabase login --token «sbp_<hex:40>»
supabase key        | SUPABASE_SERVICE_ROLE=«sb_secret_<url:31>»
tailscale           | tailscale up --authkey «tskey-auth-k<an:12>CNTRL-<an:32>»
teams               | https://acme.webhook.office.com/webhookb2/«<uuid>@<uuid>/IncomingWebhook/<hex:32>/<uuid>»
telegram url        | https://api.telegram.org/bot«<num:10>:AA<url:33>»/sendMessage
terraform           | credentials "app.terraform.io" { token = "«<an:14>.atlasv1.<url:67>»" }
together            | TOGETHER_API_KEY=«<hex:64>»
travis              | travis_token: «<an:22>»
trello              | key=<hex:32>&token=«<hex:64>»
twilio sid          | Client("«AC<hex:32>»", token)
twilio api          | TWILIO_API_KEY=«SK<hex:32>»
twitch              | twitch_client_secret = «<low:30>»
twitter bearer      | BEARER_TOKEN="«AAAAAAAAAAAAAAAAAAAAA<an:80>»"
twitter secret      | twitter_access_token_secret: «<an:45>»
typeform            | Authorization: bearer «tfp_<an:44>_<an:14>»
vault legacy        | VAULT_TOKEN=«s.<an:24>»
vercel              | vercel deploy --token «<an:24>»
wakatime            | api_key = «waka_<uuid>»
wandb               | wandb login «<hex:40>»
webflow             | webflow_token: «<hex:64>»
wifi                | psk="«<pw:14>»"
wireguard           | PrivateKey = «<b64:43>=»
wordpress           | define( 'DB_PASSWORD', '«<pw:12>»' );
xai                 | XAI=«xai-<an:80>»
yandex              | Authorization: Api-Key «AQVN<url:36>»
zapier              | https://hooks.zapier.com/hooks/catch/«<num:7>/<low:7>»
zendesk             | zendesk_secret_key: «<hex:64>»
zoho                | Zoho-oauthtoken «1000.<hex:32>.<hex:32>»
"""


def planted_lines(lines: str, random: Random) -> Iterator[tuple[str, Planted]]:
    """Yield the planted secret of each line: a name, `|`, and a template with `\\n` for line ends."""
    for line in lines.strip().splitlines():
        name, _, template = line.partition("|")
        text = template.strip().replace("\\\\n", "\0").replace("\\n", "\n").replace("\0", "\\n")
        yield name.strip(), planted(text.replace("\\|", "|"), random)


def rare(seed: int = 1) -> Iterator[tuple[str, Planted]]:
    """Yield a planted secret of each line with its vendor."""
    return planted_lines(_LINES, Random(seed))
