"""Tokens and secrets in contexts that the rules were not written with: of rarer vendors, of a list that was
written after the rules, of an attack, by what hid them: escapes, colours, cells, options, languages; and of
the formats that have a key and a value.
"""

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


_SECOND = r"""
asaas               | asaas.api.key=«$aact_prod_000<an:60>»
seam                | curl https://connect.getseam.com -H "Authorization: Bearer «seam_test<an:4>_<an:24>»"
generic pref        | echo mycompany_«<an:8>_<an:24>»
generic pat         | Using lh«_pat_<an:40>» for sync
socket              | SOCKET_SECURITY_API_KEY=«sktsec_<an:40>_api»
poix                | --header 'Authorization: Bearer «poix-api-<an:32>»'
beam                | Authorization: Basic «<b64:44>»
sandbox             | Authorization: Bearer «sandbox_<hex:30>»
circleci old        | Circle-Token: «<hex:40>»
gitlab custom       | PRIVATE-TOKEN: «mycompanyname-glpat-<url:20>»
gitlab routable     | glpat: «glpat-<url:27>.01.<low:9>»
appfigures          | X-Client-Key: «<hex:32>»
persona             | persona_production key «persona_production_<uuid>»
ably                | new Ably.Realtime('«<an:6>.<an:6>:<url:43>»')
agora               | agora_app_certificate = "«<hex:32>»"
amadeus             | amadeus = Client(client_id='<an:32>', client_secret='«<an:16>»')
appwrite            | .setKey('«standard_<hex:256>»')
backblaze           | b2 authorize-account 00<hex:23> «K001<an:27>»
basecamp            | basecamp oauth «BAhbB0kiAbB7<b64:120>=»
bunny               | AccessKey: «<hex:8>-<hex:4>-<hex:4>-<hex:12>-<hex:4>-<hex:4>»
calendly            | calendly «eyJ<url:60>.eyJ<url:200>.<url:86>»
chargebee           | ChargeBee.Configure("site", "«test_<an:32>»");
cockroach           | cockroach_api «CCDB1_<an:22>_<an:40>»
codacy              | CODACY_PROJECT_TOKEN=«<hex:32>»
coveralls           | repo_token: «<an:32>»
customerio          | customerio = Track(siteId, '«<hex:20>»')
deepl               | deepl.Translator("«<uuid>:fx»")
dnsimple            | dnsimple account token «dnsimple_a_<an:32>»
docusign            | docusign.integrator_key "«<uuid>»"
eventbrite          | EVENTBRITE_OAUTH_TOKEN='«<up:20>»'
expo                | EXPO_TOKEN=«<url:40>»
fullstory           | fullstory_key: na1.«<b64:60>»
gandi               | Authorization: Apikey «<an:24>»
giphy               | giphy api_key=«<an:32>»&q=cat
godaddy             | Authorization: sso-key <an:12>_<an:22>:«<an:22>»
hetzner             | HCLOUD_TOKEN="«<an:64>»"
ipinfo              | ipinfo.io/json?token=«<hex:14>»
iterable            | 'Api-Key': '«<hex:32>»' # iterable
jina                | jina_key="«jina_<hex:32><url:28>»"
jumpcloud           | x-api-key: «<hex:40>»
lokalise            | lokalise2 --token «<hex:40>» file upload
mailjet             | mailjet.connect('<hex:32>', '«<hex:32>»')
mailersend          | mailersend mlsn token «mlsn.<hex:64>»
mux                 | MUX_TOKEN_SECRET=«<b64:75>»
neon                | postgresql://neondb_owner:«npg_<an:12>»@ep-x.neon.tech/neondb
nylas               | nyk key: «nyk_v0_<an:64>»
onesignal           | Authorization: Key «os_v2_app_<low:103>»
openweather         | appid: «<hex:32>» # openweather
optimizely          | Optimizely-Token: «2:<url:52>»
oracle              | jdbc:oracle:thin:scott/«<an:9>»@//db:1521/x
paddle              | vendor_auth_code: «<hex:50>»
phrase              | phrase_access_token: «<hex:64>»
pipedrive           | https://api.pipedrive.com/v1/users?api_token=«<hex:40>»
pivotal             | X-TrackerToken: «<hex:32>»
plivo               | plivo.RestClient('MA<up:18>', '«<an:40>»')
pushover            | token=«a<low:29>»&user=u<low:29>
pusher              | pusher_secret=«<hex:20>»
qovery              | qovery «qov_<an:43>_<num:9>»
recaptcha           | recaptcha secret: «6L<an:6>AAAAA<url:27>»
rollbar hdr         | X-Rollbar-Access-Token: «<hex:32>»
salesforce 2        | refresh_token=«5Aep861<an:80>»
samsara             | samsara_api_«<an:30>»
sauce               | https://ada:«<uuid>»@ondemand.saucelabs.com/wd/hub
segment             | writeKey: "«<an:32>»"
semaphore           | SEMAPHORE_API_TOKEN=«<url:20>»
sendinblue smtp     | smtp_password=«xsmtpsib-<hex:64>-<an:16>»
shortcut            | Shortcut-Token: «<uuid>»
snowflake           | snowsql -a acct -u ada --password «<pw:12>»
stackpath           | stackpath client_secret = «<hex:64>»
statuspage          | Authorization: OAuth «<hex:36>»
stytch              | secret: "«secret-test-<url:35>=»"
tableau             | tableau pat secret «<b64:22>==:<an:32>»
thunderstore        | tss token «tss_<an:40>»
ticketmaster        | apikey=«<an:32>»
tomtom              | tomtom?key=«<an:32>»
transifex           | TX_TOKEN=«1/<hex:40>»
unsplash            | Authorization: Client-ID «<url:43>»
uptimerobot         | api_key=«u<num:7>-<hex:24>»
vonage              | vonage_api_secret: «<an:16>»
webex               | Authorization: Bearer «<url:64>_PF84_<uuid>»
wistia              | wistia_password="«<hex:64>»"
xata                | XATA_API_KEY="«xau_<an:40>»"
youtube             | youtube.key=«AIza<url:35>»
zulip               | [api]\nemail=bot@x.io\nkey=«<an:32>»
rabbitmqadmin       | rabbitmqadmin -u admin -p «<pw:10>» list queues
ftp                 | lftp -u ada,«<pw:10>» ftp.host
rsync               | RSYNC_PASSWORD=«<pw:9>» rsync -a x
mongo env           | MONGO_INITDB_ROOT_PASSWORD: «<an:14>»
compose             | environment:\n  - POSTGRES_PASSWORD=«<pw:11>»
helm                | helm install x --set auth.password=«<pw:11>» --set image.tag=1
kubectl             | kubectl create secret generic s --from-literal=password='«<pw:11>»'
terraform var       | variable "db_password" {\n  default = "«<pw:11>»"\n}
ansible             | ansible_become_password: "«<pw:11>»"
ini spaces          | Password   =   «<pw:10>»
java props          | spring.datasource.password=«<pw:10>»
dotnet user         | dotnet user-secrets set "Db:Password" "«<pw:10>»"
powershell          | $Password = ConvertTo-SecureString "«<pw:10>»" -AsPlainText -Force
swift               | let apiSecret: String = "«<an:32>»"
rust                | const API_KEY: &'static str = "«<an:32>»";
kotlin              | val clientSecret = "«<an:32>»"
objc                | NSString *kApiToken = @"«<an:32>»";
csharp              | private const string ApiKey = @"«<an:32>»";
php array           | 'secret' => env('X', '«<an:32>»'),
perl                | my $password = q{«<an:11>9»};
lua                 | local api_token <const> = "«<an:32>»"
sql                 | ALTER ROLE app WITH PASSWORD '«<pw:11>»';
elixir              | config :app, secret_key_base: "«<b64:64>»"
clojure             | {:api-key "«<an:32>»"}
scala               | val dbPass: String = "«<pw:11>»"
vim                 | let g:copilot_token = '«<an:32>»'
fish                | set -gx OPENAI_API_TOKEN «<an:40>»
csv                 | name,password\nada,«<pw:11>»
md table            | \| API key \| «<an:32>» \|
yaml list           | headers:\n  - "x-api-key: «<an:32>»"
har                 | {"name": "x-api-key", "value": "«<an:32>»"}
cookie              | Cookie: sessionid=«<low:32>»; theme=dark
set-cookie          | Set-Cookie: connect.sid=«s%3A<url:32>.<b64:43>»; Path=/
csrf                | X-CSRF-Token: «<url:64>»
proxy               | HTTPS_PROXY=http://ada:«<pw:0><an:11>»@proxy:3128
docker secret       | printf '«<an:14>8»' \| docker secret create db_password -
az sp               | az login --service-principal -u app -p «<an:3>8Q~<url:34>» --tenant t
gcloud              | "private_key": "«<pem>»"
ssh config pw       | sshpass -p'«<pw:9>»' ssh h
wifi nm             | wifi-sec.psk «<an:12>9»
otp uri             | otpauth://totp/a:b?secret=«<b32:32>»&issuer=a
log kv              | level=info msg=login password=«<pw:10>» user=ada
log json            | {"level":"debug","args":{"token":"«<an:32>»"}}
trace               | requests.get(url, headers={'X-Auth-Token': '«<hex:40>»'})
trace2              | requests.post(url, auth=('ada', '«<pw:10>»'))
stack               | TypeError: bad credential '«<an:32>»' for client
"""


def second(seed: int = 1) -> Iterator[tuple[str, Planted]]:
    """Yield a planted secret of each line with what it is of."""
    return planted_lines(_SECOND, Random(seed))


_THIRD = r"""
colour | use «ghp_<an:11><an:6>\u001b[0m<an:19>» x ¦ use «ghp_<an:11><an:6>␛[31m␛[K<an:19>» x
colour | use «ghp_<an:11><an:6>\x1b[31m<an:19>» x ¦ use «ghp_<an:11><an:6>\033[31m<an:19>» x
colour | echo \033[32m«ghp_<an:20><an:16>»\033[0m ¦ use «ghp_<an:11><an:6>\e[0m<an:19>» x
colour | use «ghp_<an:11><an:6>^[[0m<an:19>» x ¦ ␛[32mtoken␛[0m=␛[33m«<an:20>»␛[0m
colour | password=«hun␛[01;31mter␛[0m2x9» ¦ DB_PASS␛[1mWORD␛[0m=«<low:6>2x9»
unseen | use «ghp_<an:11>◦<an:9><an:16>» x ¦ pass◦word=«<low:6>2x9» ¦ password=«hun◦ter2x9»
unseen | password=«hun¬ter2x9»
full width | password: “«<low:6>2x9»” ¦ password：«<low:6>2x9» ¦ ＰＡＳＳＷＯＲＤ＝«<low:6>2x9»
entity | value="&lt;password&gt;«<low:6>2x9»&lt;/password&gt;" ¦ {&#34;password&#34;:&#34;«<low:6>2x9»&#34;}
entity | DATABASE_URL=postgres://bob:«hun&amp;ter2»@db/x ¦ <password>«a&lt;b7xQ9!»</password>
entity | password=&quot;«<low:6>2x9»&quot; ¦ api_key=&#x27;«<an:20>»&#x27; ¦ password: «hun&#34;ter2x9»
entity | password=«hun&amp;ter2x9»
word | passphrase: "«correct horse battery staple»" ¦ spring.datasource.password=«geheimnis»
word | --password «correcthorsebattery» ¦ <password>«swordfish»</password> ¦ MYSQL_ROOT_PASSWORD: «swordfish»
word | PASSWORD="«CorrectHorseBattery»" ¦ password: «correcthorsebattery» ¦ password=«correcthorsebattery»
word | export PGPASSWORD=«tulipmania» ¦ ansible_ssh_pass=«letmein» ¦ "password": "«swordfish»"
word | ?password=«swordfish»&x=1 ¦ password = '«opensesame»' ¦ ldap_bind_pw: «bluebird»
word | DB_PASSWORD=«swordfish» ¦ Password: «Sommerregen» ¦ --password=«swordfish»
cell | INSERT INTO `u` (`id`, `name`, `password`) VALUES (1, 'ada', '«<low:6>2x9»'), (2, 'b', 'x');
cell | Content-Disposition: form-data; name="password"\nContent-Type: text/plain\n\n«swordfish»\n--
cell | +----+-----------+\n\| id \| password  \|\n+----+-----------+\n\|  1 \| «<low:6>2x9» \|\n
cell | ------x\nContent-Disposition: form-data; name="password"\n\n«<low:6>2x9»\n------x
cell | id \| name \| password \n----+------+-----------\n  1 \| ada  \| «<low:6>2x9»\n
cell | name,email,password,role\nada,a@b.co,«<low:6>2x9»,x\nbob,b@b.co,hunter3x8,y\n
cell | Content-Disposition: form-data; name="password"\r\\n\r\\n«<low:6>2x9»\r\\n--
cell | INSERT INTO users (name, password) VALUES ('O''Neil, x', '«<low:6>2x9»'); ¦ - [password, «<low:6>2x9»]
cell | INSERT INTO users (name, password) VALUES ('ada', '«<low:6>2x9»'); ¦ name,password\nada,«<low:6>2x9»\n
cell | \| user \| password \|\n\|---\|---\|\n\| ada \| «<low:6>2x9» \|\n ¦ name;password\nada;«<low:6>2x9»\n
cell | UPDATE users SET name='ada', password='«<low:6>2x9»' WHERE id=1 ¦ name,password\nada,«swordfish»\n
cell | INSERT INTO users (name, api_key) VALUES ('ada', '«<an:20>»') ¦ curl -F password=«swordfish» https://h
cell | insert into users(password,name) values ('«swordfish»','ada') ¦ ["mysql","-u","root","-p«<low:6>2x9»"]
cell | subprocess.run(["sshpass", "-p", "«<low:6>2x9»", "ssh", "h"]) ¦ ["deploy", "--password=«<low:6>2x9»"]
cell | <input type="password" name="password" value="«<low:6>2x9»"> ¦ ["curl","-u","bob:«<low:6>2x9»"]
cell | [{"name":"password","type":"text","value":"«<low:6>2x9»"}] ¦ "name","password"\n"ada","«<low:6>2x9»"\n
cell | USER   PASSWORD     ROLE\nada    «<low:6>2x9»    admin\n ¦ args:\n  - --password\n  - «<low:6>2x9»\n
cell | ['docker', 'login', '-u', 'bob', '-p', '«<low:6>2x9»'] ¦ <string name="password">«<low:6>2x9»</string>
cell | "args": [\n  "curl",\n  "-u",\n  "bob:«<low:6>2x9»"\n] ¦ <entry key="db.password">«<low:6>2x9»</entry>
cell | CMD ["redis-server", "--requirepass", "«<low:6>2x9»"] ¦ {"Key":"DB_PASSWORD","Value":"«<low:6>2x9»"}
cell | - name: password\n  type: x\n  value: «<low:6>2x9» ¦ {"value": "«<low:6>2x9»", "name": "DB_PASSWORD"}
cell | args:\n  - curl\n  - -u\n  - bob:«<low:6>2x9»\n ¦ {"key":"password","value":"«<low:6>2x9»"}
cell | ["deploy", "--password", "«<low:6>2x9»"] ¦ ("password", "«<low:6>2x9»") ¦ ["password", "«<low:6>2x9»"]
cell | user	token\nada	«<an:20>»\n
program | aws configure set aws_secret_access_key «wJalrXUtnFEMIK7MDENGbPxRfiCYzzMPLEKEY123»
program | kubectl create secret docker-registry r --docker-password=«swordfish» ¦ zip -P «<low:6>2x9» a.zip b
program | kubeadm join 10.0.0.1:6443 --token «abcdef.0123456789abcdef» --v=5 ¦ net user bob «<low:6>2x9» /add
program | mount -t cifs //h/s /mnt -o username=bob,password=«<low:6>2x9» ¦ java -Dpassword=«swordfish» -jar x
program | helm repo add x https://h --username u --password «<low:6>2x9» ¦ smbmap -u bob -p «<low:6>2x9» -H h
program | az login --service-principal -u x -p «<low:6>2x9» --tenant t ¦ mongosh --host h -u a -p «swordfish»
program | echo -n '«<low:6>2x9»' \| cryptsetup luksOpen /dev/sda1 x - ¦ curl --user bob:«swordfish» https://h
program | echo «<low:6>2x9» \| docker login -u bob --password-stdin ¦ smbclient -U bob%«<low:6>2x9» //h/share
program | npm config set //registry.npmjs.org/:_authToken «<an:20>» ¦ podman login -p «swordfish» -u bob r.io
program | kubectl config set-credentials bob --token=«<an:20>» ¦ ldapsearch -x -D cn=a -w «swordfish» -b dc=x
program | vault token lookup «hvs.CAESIJ1a2b3c4d5e6f7g8h9i0j» ¦ net use Z: \\srv\share «<low:6>2x9» /user:bob
program | ipmitool -H h -U root -P «<low:6>2x9» power status ¦ kubeadm join --token=«k9f2ab.x7q1m4z8p0w3v5t6»
program | ansible-playbook x -e ansible_password=«swordfish» ¦ openssl enc -aes-256-cbc -k «<low:6>2x9» -in a
program | restic -r x --password-command 'echo «<low:6>2x9»' ¦ svn co --username bob --password «swordfish» u
program | nmcli dev wifi connect home password «<low:6>2x9» ¦ helm registry login r.io -u bob -p «<low:6>2x9»
program | keytool -list -keystore k -storepass «swordfish» ¦ wget --user=bob --password=«swordfish» https://h
program | cryptsetup luksOpen /dev/sda1 x <<< «<low:6>2x9» ¦ pdftk a.pdf input_pw «<low:6>2x9» output b.pdf
program | gpg --batch --passphrase «swordfish» -d x.gpg ¦ impacket-psexec dom/bob:«<low:6>2x9»@10.0.0.1
program | mc alias set m https://h bob «<low:6>2x9abc» ¦ psql "host=h user=bob password=«swordfish»"
program | wget --http-password «<low:6>2x9» https://h ¦ net use \\srv\share /user:bob «<low:6>2x9»
program | openssl rsa -in k -passin pass:«swordfish» ¦ vault kv put secret/x password=«swordfish»
program | twine upload -u bob -p «<low:6>2x9» dist/* ¦ ssh-keygen -t ed25519 -N «<low:6>2x9» -f k
program | smbclient //h/share -U 'bob%«<low:6>2x9»' ¦ qpdf --password=«swordfish» --decrypt a b
program | smbclient //h/s -U WORK\bob%«<low:6>2x9» ¦ docker login -u bob -p «<low:6>2x9» r.io
program | evil-winrm -i h -u bob -p '«<low:6>2x9»' ¦ mysqladmin -u root password «<low:6>2x9»
program | mysql --user=root --password=«swordfish» ¦ gh auth login --with-token <<< «<an:20>»
program | echo «<low:6>2x9» \| passwd --stdin bob ¦ psql postgresql://bob:«swordfish»@h/db
program | htpasswd -b .htpasswd bob «<low:6>2x9» ¦ rabbitmqctl add_user bob «<low:6>2x9»
program | cargo login «cio<an:20>a8Kd7fQ6a9s8» ¦ xfreerdp /u:bob /p:«<low:6>2x9» /v:h
program | rpcclient --user=bob%«<low:6>2x9» h ¦ openssl enc -pass pass:«<low:6>2x9» ¦ 7z x a.7z -p«swordfish»
program | az login -u bob@x.io -p «swordfish» ¦ echo "bob:«<low:6>2x9»" \| chpasswd ¦ bw unlock «<low:6>2x9»
program | sqlcmd -S h -U sa -P «<low:6>2x9» ¦ unzip -o -P '«<low:6>2x9»' a.zip ¦ plink -pw «<low:6>2x9» bob@h
program | PGPASSWORD=«swordfish» psql -h h ¦ wpa_passphrase home «<low:6>2x9» ¦ zip -r -P «swordfish» a.zip b
program | curl -ubob:«swordfish» https://h ¦ nomad job run -token=«<an:20>» x ¦ rar a -hp«<low:6>2x9» a.rar b
program | redis-cli -h h -a «swordfish» ¦ htpasswd -nbB bob «swordfish» ¦ sudo -S <<< '«<low:6>2x9»' ls
program | consul login -token «<an:20>» ¦ vault login «s.<an:20>abcd» ¦ sshpass -p«swordfish» ssh h
program | useradd -p «<low:6>2x9» bob ¦ unzip -P «swordfish» a.zip ¦ 7z a -p«<low:6>2x9» a.7z b
program | kinit <<< «<low:6>2x9»
spaced | WP_APP_PASSWORD='«AbCd 1234 eFgH 5678 iJkL 9012»' ¦ GMAIL_APP_PASSWORD="«abcd efgh ijkl mnop»"
spaced | app_password: «abcd efgh ijkl mnop» ¦ app password: «xkcd-plmq-wert-zuio»
spaced | SMTP_PASS=«abcd efgh ijkl mnop»
sign | Server=db;Password=«<low:6>2x9»;Encrypt=yes ¦ password=«example-7fK29xQpL» ¦ DB_PASSWORD='«$ecr3tP!9»'
sign | password="«correct,horse;9»" ¦ API_KEY=«example-<an:20>» ¦ password="«(hunter)2x9»"
sign | password: "«/kP9xQ2abZ»" ¦ password="«hun,ter;2x9»" ¦ password="«<low:6>2x9)»" ¦ password: «$ecr3tPx9»
sign | DB_PASSWORD=«(abc9XQ!z» ¦ PASSWORD='«hun"ter2x9»' ¦ PASSWORD="«hun'ter2x9»" ¦ password=«/kP9xQ2/abZ»
sign | PASSWORD=«ab1x;cd9Q»\n ¦ password: «hun,ter2x9» ¦ PASSWORD=«#<low:6>2x9» ¦ PASSWORD=«!<low:6>2x9»
sign | PASSWORD=«&<low:6>2x9» ¦ PASSWORD=«*<low:6>2x9» ¦ PASSWORD=«@<low:6>2x9» ¦ PASSWORD=«[<low:6>2x9»
sign | PASSWORD=«{<low:6>2x9» ¦ PASSWORD=«~<low:6>2x9» ¦ PASSWORD=«%<low:6>2x9» ¦ PASSWORD=«-<low:6>2x9»
sign | PASSWORD=«:<low:6>2x9» ¦ PASSWORD=«.<low:6>2x9» ¦ PASSWORD=«^<low:6>2x9» ¦ password=«hun{ter}2x9»
sign | password=«hunter(2x9» ¦ password=«hun$ter2x9» ¦ token=«test-<an:20>» ¦ PASSWORD=«ab1x,cd9Q»
language | mot de passe : «<low:6>2x9» ¦ Mot de passe: «<low:6>2x9» ¦ mot_de_passe=«<low:6>2x9»
language | adgangskode: «<low:6>2x9» ¦ كلمة المرور: «<low:6>2x9» ¦ contraseña: «<low:6>2x9» ¦ 密钥: «<an:20>»
language | contrasena: «<low:6>2x9» ¦ wachtwoord: «<low:6>2x9» ¦ "пароль": "«<low:6>2x9»" ¦ mdp: «<low:6>2x9»
language | kata sandi: «<low:6>2x9» ¦ motdepasse=«<low:6>2x9» ¦ pass¬wort: «<low:6>2x9» ¦ senha: «<low:6>2x9»
language | パスワードは「«<low:6>2x9»」です ¦ Passwort: «<low:6>2x9» ¦ lösenord: «<low:6>2x9»
language | salasana: «<low:6>2x9» ¦ รหัสผ่าน: «<low:6>2x9» ¦ mật khẩu: «<low:6>2x9» ¦ Пароль = «<low:6>2x9»
language | Kennwort=«<low:6>2x9» ¦ passord: «<low:6>2x9» ¦ κωδικός: «<low:6>2x9» ¦ पासवर्ड: «<low:6>2x9»
language | лозинка: «<low:6>2x9» ¦ пароль: «<low:6>2x9» ¦ "密码": "«<low:6>2x9»" ¦ jelszó: «<low:6>2x9»
language | parola: «<low:6>2x9» ¦ パ◦スワード: «<low:6>2x9» ¦ hasło: «<low:6>2x9» ¦ şifre: «<low:6>2x9»
language | clé API : «<an:20>» ¦ heslo: «<low:6>2x9» ¦ סיסמה: «<low:6>2x9» ¦ パスワード：«<low:6>2x9»
language | haslo=«<low:6>2x9» ¦ sifre=«<low:6>2x9» ¦ 비밀번호: «<low:6>2x9» ¦ 비밀번호는 «<low:6>2x9»
language | 密碼: «<low:6>2x9» ¦ 암호: «<low:6>2x9» ¦ токен: «<an:20>» ¦ jeton: «<an:20>» ¦ 口令: «<low:6>2x9»
language | 密码：«<low:6>2x9» ¦ 密码是«<low:6>2x9» ¦ トークン: «<an:20>» ¦ 暗証番号: «482913»
language | 令牌：«<an:20>»
key tail | 12→«<b64:64>\n    13→<b64:20>=\n    14→-----END OPENSSH <PRIVATE> KEY-----»
key tail | $ tail -3 k\\n«<b64:64>\\n<b64:20>==\\n-----END <PRIVATE> KEY-----»\\n
key tail | «<b64:64>\n<b64:64>\n<b64:20>==\n-----END RSA <PRIVATE> KEY-----»
key tail | > «<b64:64>\n> <b64:64>\n> -----END EC <PRIVATE> KEY-----»
wrapped | $ curl -H "Authorization: Bearer «<an:50>\n<an:20>a7»" https://h ¦ use «ghp_<an:20>␍\n<an:14>aB» x
wrapped | export OPENAI_API_KEY=«sk-proj-<url:60>\n<url:60>\n<url:18>a7» ¦ use «ghp_<an:20>\n<an:14>aB» x
wrapped | Bearer «eyJ<url:33>.eyJ<url:40>\n<url:38>k7.<url:43>» ¦ key = ('«glpat-<an:9>'\n       '<an:9>aB»')
wrapped | key = "«ghp_<an:20>" +\n  "<an:14>aB»" ¦ use «ghp_<an:20>\⏎<an:14>aB» x
wrapped | id «AKIA<b32:7>\n<b32:9>» x
"""
_FOURTH = r"""
xml | <wsse:Password Type="http://docs.oasis-open.org/wss/2004/o#PasswordText">«<low:6>2x9»</wsse:Password>
xml | <name>ldap.bind.password</name>\n<description>the password</description>\n<value>«<low:6>2x9»</value>
xml | <AutoLogon><Password><Value>«<low:6>2x9»</Value><PlainText>true</PlainText></Password></AutoLogon>
xml | <property><name>javax.jdo.option.ConnectionPassword</name><value>«<low:6>2x9»</value></property>
xml | <setting name="ApiSecret" serializeAs="String">\n  <value>«<an:32>»</value>\n</setting>
xml | <property>\n  <name>fs.s3a.secret.key</name>\n  <value>«<b64:40>»</value>\n</property>
xml | <AdministratorPassword>\n  <Value>«<low:6>2x9»</Value>\n</AdministratorPassword>
xml | <entry>\n<string>password</string>\n<string>«<low:6>2x9»</string>\n</entry>
xml | <user username='ada' password='«swordfish»' roles='manager-gui'/> ¦ <auth-token>«<an:32>»</auth-token>
xml | <server><id>x</id><passphrase>«<low:6>2x9»</passphrase></server>
xml | <entry><key>db.password</key><value>«<low:6>2x9»</value></entry> ¦ <password>«<low:6>2x9»</password>
xml | <field name="password"><value>«<low:6>2x9»</value></field> ¦ <ProxyPassword>«<low:6>2x9»</ProxyPassword>
xml | <jenkins><secretKey>«<hex:64>»</secretKey></jenkins> ¦ <add value="«<low:6>2x9»" key="SmtpPassword" />
xml | <password>«correct horse battery staple»</password> ¦ <param name="password" value="«<low:6>2x9»"/>
xml | &lt;password&gt;«<low:6>2x9»&lt;/password&gt; ¦ <const name="API_SECRET" value="«<an:24>»"/>
xml | <arg name="password">«<low:6>2x9»</arg> ¦ <keyMaterial>«<low:6>2x9»</keyMaterial>
xml | <api_key>«<hex:32>»</api_key>
plist | <key>SharedSecret</key>\n\t<data>\n\t«<b64:43>=»\n\t</data> ¦ "api-secret" = "«<an:32>»";
plist | <key>FacebookClientToken</key>\n<string>«<hex:32>»</string>
plist | <key>password</key>\n\t<string>«<pw:10>»</string> ¦ <key>Password</key><string>«swordfish»</string>
html | <input type="hidden" name="__RequestVerificationToken" value="«<url:92>»">
html | <input value="«<low:6>2x9»" type="password" name="password"> ¦ Password: <strong>«<low:6>2x9»</strong>
html | <textarea name="api_secret" rows="3">«<an:32>»</textarea> ¦ <td>Password</td><td>«<low:6>2x9»</td>
html | <input name="password" value=«<low:6>2x9» type=password> ¦ <li>Password: <code>«<low:6>2x9»</code></li>
html | <td>API token</td>\n    <td><code>«<an:32>»</code></td> ¦ <label>API key</label> <span>«<an:32>»</span>
html | <p>Your password is <strong>«<low:6>2x9»</strong></p> ¦ <meta content="«<b64:86>==»" name="csrf-token">
html | <tr><th>Password</th>\n<td>«<low:6>2x9»</td></tr> ¦ <option value="«<an:32>»" data-name="api_token">
html | <dt>Password</dt><dd>«<low:6>2x9»</dd> ¦ <b>Password:</b> «<low:6>2x9»<br>
ini | password = «<low:6>2x9» # the password ¦ [db]\npassword = «<low:6>2x9» ¦ ;password = «<low:6>2x9»
ini | [auth]\nkey = «<an:32>»
properties | sasl.jaas.config=kafka.PlainLoginModule required username="ada" password="«<low:6>2x9»";
properties | spring.datasource.password: «<low:6>2x9» ¦ jasypt.encryptor.password=«<low:6>2x9»
properties | oauth.clientSecret=«<an:24>»
hcl | variable "password" {\n description = "The word"\n type    = string\n default = "«<low:6>2x9»"\n}
hcl | variable "db_password" {\n  type    = string\n  default = "«<low:6>2x9»"\n}
hcl | private_key_password = <<-EOF\n    «<low:6>2x9»\n    EOF ¦ password = <<EOT\n«<low:6>2x9»\nEOT
hcl | {\n  name  = "DB_PASSWORD"\n  value = "«<low:6>2x9»"\n} ¦ locals { api_secret = "«<an:32>»" }
hcl | admin_password                  = "«<low:6>2x9»" ¦ client_secret = "«<an:34>»"
hcl | secret_string = "«<an:24>»"
docker | RUN pip config set global.index-url https://u:«<an:20>»@pypi.x.io/simple ¦ ENV API_TOKEN «<an:32>»
docker | docker run --env MYSQL_PWD='«<low:6>2x9»' x ¦ ENV MYSQL_ROOT_PASSWORD «swordfish»
docker | env[DB_PASSWORD] = «<low:6>2x9» ¦ ENV DB_PASSWORD=«<low:6>2x9»
yaml | stringData:\n  password: \|\n    «<low:6>2x9»\n  user: ada ¦ {password: «<low:6>2x9», user: ada}
yaml | - name: DB_PASSWORD\n  value: \|\n    «<low:6>2x9»\n ¦ client_secret: >-\n    «<an:20>\n    <an:20>»
yaml | - value: «<low:6>2x9»\n  name: DB_PASSWORD\n ¦ password: \|2-\n    «<low:6>2x9»\n
yaml | password: \|-\n    «<low:6>2x9»\n ¦ client_secret: \|\n    «<an:40>» ¦ password: >-\n    «swordfish»\n
yaml | data:\n  password: «<b64:22>==» ¦ password: \|\n  «<low:6>2x9»\n ¦ password: >\n  «<low:6>2x9»\n
yaml | password:\n    "«<low:6>2x9»" ¦ password: !!str «<low:6>2x9» ¦ password: &pw "«<low:6>2x9»"
yaml | api_token: >-\n  «<an:32>» ¦ password:\n  «<low:6>2x9» ¦ secret: \|\n  «<b64:40>»
sql | ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('«<low:6>2x9»');
sql | CREATE USER MAPPING FOR ada SERVER s OPTIONS (user 'x', password '«<low:6>2x9»');
sql | CREATE DATABASE LINK x CONNECT TO ada IDENTIFIED BY «<low:6>2x9» USING 'y';
sql | CREATE USER ada IDENTIFIED BY "«<low:6>2x9»" DEFAULT TABLESPACE x; ¦ IDENTIFIED BY VALUES '«S:<HEX:60>»'
sql | UPDATE users SET password = crypt('«<low:6>2x9»', gen_salt('bf')) ¦ OPTIONS (password '«swordfish»')
sql | UPDATE users SET password = MD5('«<low:6>2x9»') WHERE id = 1; ¦ SET PASSWORD FOR ada = '«<low:6>2x9»';
sql | ALTER USER ada IDENTIFIED BY «<low:6>2x9» REPLACE old1pass9; ¦ SET PASSWORD = '«<low:6>2x9»';
sql | CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD='«swordfish»' ¦ CREATE USER ada IDENTIFIED BY «<low:6>2x9»;
sql | IDENTIFIED WITH mysql_native_password AS '«*<HEX:40>»' ¦ ATTACH DATABASE 'x.db' AS y KEY '«<low:6>2x9»';
sql | ALTER USER ada WITH PASSWORD $$«<low:6>2x9»$$; ¦ SELECT crypt('«<low:6>2x9»', gen_salt('bf'));
sql | PRAGMA key = '«<low:6>2x9»';
toml | auth = { user = "ada", password = "«<low:6>2x9»" } ¦ password = ❝\n«<low:6>2x9»❝
toml | password = '''«<low:6>2x9»'''
env | heroku config:set DB_PASSWORD=«<low:6>2x9» ¦ DB_PASSWORD=${DB_PASSWORD:-«<low:6>2x9»}
env | setx DB_PASSWORD "«<low:6>2x9»" /M
conf | proxy_set_header X-Api-Key "«<an:32>»"; ¦ auth_basic_password «<low:6>2x9»; ¦ requirepass «<low:6>2x9»
conf | enable password «<low:6>2x9» ¦ <AuthPassword «<low:6>2x9»> ¦ masterauth «<low:6>2x9»
conf | bindpw «<low:6>2x9» ¦ rootpw «<low:6>2x9»
json | {"adminPassword": {"type": "string", "defaultValue": "«<low:6>2x9»"}}
json | [{"Name":"DB_PASSWORD","Type":"SecureString","Value":"«<low:6>2x9»"}]
json | {"ParameterKey": "DBPassword", "ParameterValue": "«<low:6>2x9»"}
json | {"password": {\n  "value": "«<low:6>2x9»",\n  "x": 1}} ¦ {"key": "password", "val": "«<low:6>2x9»"}
json | "auths": {"r.io": {"auth": "«dXNlcjpwYXNzd29yZDE=»"}} ¦ {"password":{"value":"«<low:6>2x9»"}}
json | ParameterKey=DBPassword,ParameterValue=«<low:6>2x9»
hidden | use «ghp_<an:11>◨<an:25>» x ¦ use «ghp_<an:11>◧<an:25>» x ¦ password=«hun◨ter2x9»
hidden | use «AKIA<b32:8>◨<b32:8>» x ¦ use «AKⒾⒶ<b32:16>» x ¦ use «ghp_<an:11>◩◩<an:25>» x
hidden | pass◨word=«<low:6>2x9» ¦ <password>«hun◧ter2x9»</password> ¦ use «ghp\_<an:36>» x
hidden | use «ghp_<an:11>◨◨◨◨◨◨◨◨◨◨◨◨<an:25>» x
"""
_UNSEEN = "\x1b\u200b\xad\U0001f3fb\U000e0101\U000e0041\U0001f1ee\U0001f1e6"
_MARKS = dict(zip("␛◦¬◧◨◩ⒾⒶ", _UNSEEN, strict=True)) | {"❝": '"' * 3, "<PRIVATE>": "PRIVATE"}
_LINE_ENDS = str.maketrans("⏎␍", "\n\r")
"""Characters and words that do not stand in the source as they are."""


def third(seed: int = 1) -> Iterator[tuple[str, Planted]]:
    """Yield a planted secret of each template with its cause."""
    return _of_templates(_THIRD, seed)


def fourth(seed: int = 1) -> Iterator[tuple[str, Planted]]:
    """Yield a planted secret of each template of formats that have a key and a value, with the format."""
    return _of_templates(_FOURTH, seed)


def _of_templates(lines: str, seed: int) -> Iterator[tuple[str, Planted]]:
    """Yield the planted secret of each template; a line may have several of one cause."""
    for mark, meaning in _MARKS.items():
        lines = lines.replace(mark, meaning)
    causes = (line.partition(" | ")[::2] for line in lines.strip().split("\n"))
    single = "\n".join(f"{cause} | {each}" for cause, line in causes for each in line.split(" ¦ "))
    for cause, made in planted_lines(single, Random(seed)):
        yield cause, made._replace(text=made.text.translate(_LINE_ENDS))
