"""Secrets of a second list, written after the rules. When it was tried first, 77 % were found."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.builders.redaction.rare import planted_lines
from tests.builders.redaction.templates import Planted

_LINES = r"""
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
    return planted_lines(_LINES, Random(seed))
