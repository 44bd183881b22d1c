"""Secrets of a third list, by what hid them: escapes, colours, cells, options, languages, line ends.

They come from an attack on the redaction that found none of them, or left a part of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.builders.redaction.rare import planted_lines
from tests.builders.redaction.templates import Planted

_LINES = r"""
colour     | use «ghp_<an:11><an:6>␛[31m␛[K<an:19>» x
colour     | password=«hun␛[01;31mter␛[0m2x9»
colour     | use «ghp_<an:11><an:6>\x1b[31m<an:19>» x
colour     | use «ghp_<an:11><an:6>\033[31m<an:19>» x
colour     | use «ghp_<an:11><an:6>\e[0m<an:19>» x
colour     | use «ghp_<an:11><an:6>\u001b[0m<an:19>» x
colour     | use «ghp_<an:11><an:6>^[[0m<an:19>» x
colour     | ␛[32mtoken␛[0m=␛[33m«<an:20>»␛[0m
colour     | echo \033[32m«ghp_<an:20><an:16>»\033[0m
colour     | DB_PASS␛[1mWORD␛[0m=«<low:6>2x9»
unseen     | use «ghp_<an:11>◦<an:9><an:16>» x
unseen     | pass◦word=«<low:6>2x9»
unseen     | password=«hun◦ter2x9»
unseen     | password=«hun¬ter2x9»
full width | password：«<low:6>2x9»
full width | ＰＡＳＳＷＯＲＤ＝«<low:6>2x9»
full width | password: “«<low:6>2x9»”
entity     | password=&quot;«<low:6>2x9»&quot;
entity     | {&#34;password&#34;:&#34;«<low:6>2x9»&#34;}
entity     | password=«hun&amp;ter2x9»
entity     | <password>«a&lt;b7xQ9!»</password>
entity     | password: «hun&#34;ter2x9»
entity     | value="&lt;password&gt;«<low:6>2x9»&lt;/password&gt;"
entity     | api_key=&#x27;«<an:20>»&#x27;
entity     | DATABASE_URL=postgres://bob:«hun&amp;ter2»@db/x
word       | password=«correcthorsebattery»
word       | password: «correcthorsebattery»
word       | "password": "«swordfish»"
word       | DB_PASSWORD=«swordfish»
word       | export PGPASSWORD=«tulipmania»
word       | --password «correcthorsebattery»
word       | --password=«swordfish»
word       | ?password=«swordfish»&x=1
word       | passphrase: "«correct horse battery staple»"
word       | Password: «Sommerregen»
word       | password = '«opensesame»'
word       | <password>«swordfish»</password>
word       | MYSQL_ROOT_PASSWORD: «swordfish»
word       | spring.datasource.password=«geheimnis»
word       | PASSWORD="«CorrectHorseBattery»"
word       | ansible_ssh_pass=«letmein»
word       | ldap_bind_pw: «bluebird»
cell       | name,password\nada,«<low:6>2x9»\n
cell       | name,email,password,role\nada,a@b.co,«<low:6>2x9»,x\nbob,b@b.co,hunter3x8,y\n
cell       | name;password\nada;«<low:6>2x9»\n
cell       | user	token\nada	«<an:20>»\n
cell       | "name","password"\n"ada","«<low:6>2x9»"\n
cell       | name,password\nada,«swordfish»\n
cell       |  id \| name \| password \n----+------+-----------\n  1 \| ada  \| «<low:6>2x9»\n
cell       | \| user \| password \|\n\|---\|---\|\n\| ada \| «<low:6>2x9» \|\n
cell       | +----+-----------+\n\| id \| password  \|\n+----+-----------+\n\|  1 \| «<low:6>2x9» \|\n
cell       | USER   PASSWORD     ROLE\nada    «<low:6>2x9»    admin\n
cell       | INSERT INTO users (name, password) VALUES ('ada', '«<low:6>2x9»');
cell       | INSERT INTO `u` (`id`, `name`, `password`) VALUES (1, 'ada', '«<low:6>2x9»'), (2, 'b', 'x');
cell       | INSERT INTO users (name, api_key) VALUES ('ada', '«<an:20>»')
cell       | insert into users(password,name) values ('«swordfish»','ada')
cell       | INSERT INTO users (name, password) VALUES ('O''Neil, x', '«<low:6>2x9»');
cell       | UPDATE users SET name='ada', password='«<low:6>2x9»' WHERE id=1
cell       | ------x\nContent-Disposition: form-data; name="password"\n\n«<low:6>2x9»\n------x
cell       | Content-Disposition: form-data; name="password"\r\\n\r\\n«<low:6>2x9»\r\\n--
cell       | Content-Disposition: form-data; name="password"\nContent-Type: text/plain\n\n«swordfish»\n--
cell       | curl -F password=«swordfish» https://h
cell       | ["curl","-u","bob:«<low:6>2x9»"]
cell       | ["mysql","-u","root","-p«<low:6>2x9»"]
cell       | subprocess.run(["sshpass", "-p", "«<low:6>2x9»", "ssh", "h"])
cell       | ['docker', 'login', '-u', 'bob', '-p', '«<low:6>2x9»']
cell       | ["deploy", "--password", "«<low:6>2x9»"]
cell       | ["deploy", "--password=«<low:6>2x9»"]
cell       | "args": [\n  "curl",\n  "-u",\n  "bob:«<low:6>2x9»"\n]
cell       | args:\n  - curl\n  - -u\n  - bob:«<low:6>2x9»\n
cell       | args:\n  - --password\n  - «<low:6>2x9»\n
cell       | CMD ["redis-server", "--requirepass", "«<low:6>2x9»"]
cell       | ("password", "«<low:6>2x9»")
cell       | ["password", "«<low:6>2x9»"]
cell       | - [password, «<low:6>2x9»]
cell       | {"value": "«<low:6>2x9»", "name": "DB_PASSWORD"}
cell       | {"key":"password","value":"«<low:6>2x9»"}
cell       | {"Key":"DB_PASSWORD","Value":"«<low:6>2x9»"}
cell       | [{"name":"password","type":"text","value":"«<low:6>2x9»"}]
cell       | <input type="password" name="password" value="«<low:6>2x9»">
cell       | <string name="password">«<low:6>2x9»</string>
cell       | <entry key="db.password">«<low:6>2x9»</entry>
cell       | - name: password\n  type: x\n  value: «<low:6>2x9»
program    | kubeadm join 10.0.0.1:6443 --token «abcdef.0123456789abcdef» --v=5
program    | kubeadm join --token=«k9f2ab.x7q1m4z8p0w3v5t6»
program    | smbclient //h/share -U 'bob%«<low:6>2x9»'
program    | smbclient -U bob%«<low:6>2x9» //h/share
program    | smbclient //h/s -U WORK\bob%«<low:6>2x9»
program    | rpcclient --user=bob%«<low:6>2x9» h
program    | mount -t cifs //h/s /mnt -o username=bob,password=«<low:6>2x9»
program    | zip -P «<low:6>2x9» a.zip b
program    | zip -r -P «swordfish» a.zip b
program    | unzip -P «swordfish» a.zip
program    | unzip -o -P '«<low:6>2x9»' a.zip
program    | 7z a -p«<low:6>2x9» a.7z b
program    | 7z x a.7z -p«swordfish»
program    | rar a -hp«<low:6>2x9» a.rar b
program    | net use Z: \\srv\share «<low:6>2x9» /user:bob
program    | net use \\srv\share /user:bob «<low:6>2x9»
program    | net user bob «<low:6>2x9» /add
program    | docker login -u bob -p «<low:6>2x9» r.io
program    | podman login -p «swordfish» -u bob r.io
program    | helm registry login r.io -u bob -p «<low:6>2x9»
program    | helm repo add x https://h --username u --password «<low:6>2x9»
program    | openssl enc -aes-256-cbc -k «<low:6>2x9» -in a
program    | openssl rsa -in k -passin pass:«swordfish»
program    | openssl enc -pass pass:«<low:6>2x9»
program    | keytool -list -keystore k -storepass «swordfish»
program    | ldapsearch -x -D cn=a -w «swordfish» -b dc=x
program    | redis-cli -h h -a «swordfish»
program    | mongosh --host h -u a -p «swordfish»
program    | PGPASSWORD=«swordfish» psql -h h
program    | psql postgresql://bob:«swordfish»@h/db
program    | psql "host=h user=bob password=«swordfish»"
program    | htpasswd -b .htpasswd bob «<low:6>2x9»
program    | htpasswd -nbB bob «swordfish»
program    | gpg --batch --passphrase «swordfish» -d x.gpg
program    | wget --user=bob --password=«swordfish» https://h
program    | wget --http-password «<low:6>2x9» https://h
program    | aws configure set aws_secret_access_key «wJalrXUtnFEMIK7MDENGbPxRfiCYzzMPLEKEY123»
program    | az login --service-principal -u x -p «<low:6>2x9» --tenant t
program    | az login -u bob@x.io -p «swordfish»
program    | vault token lookup «hvs.CAESIJ1a2b3c4d5e6f7g8h9i0j»
program    | vault login «s.<an:20>abcd»
program    | vault kv put secret/x password=«swordfish»
program    | twine upload -u bob -p «<low:6>2x9» dist/*
program    | cargo login «cio<an:20>a8Kd7fQ6a9s8»
program    | xfreerdp /u:bob /p:«<low:6>2x9» /v:h
program    | plink -pw «<low:6>2x9» bob@h
program    | ipmitool -H h -U root -P «<low:6>2x9» power status
program    | mc alias set m https://h bob «<low:6>2x9abc»
program    | sqlcmd -S h -U sa -P «<low:6>2x9»
program    | nmcli dev wifi connect home password «<low:6>2x9»
program    | wpa_passphrase home «<low:6>2x9»
program    | sshpass -p«swordfish» ssh h
program    | bw unlock «<low:6>2x9»
program    | impacket-psexec dom/bob:«<low:6>2x9»@10.0.0.1
program    | evil-winrm -i h -u bob -p '«<low:6>2x9»'
program    | cryptsetup luksOpen /dev/sda1 x <<< «<low:6>2x9»
program    | echo -n '«<low:6>2x9»' \| cryptsetup luksOpen /dev/sda1 x -
program    | echo «<low:6>2x9» \| docker login -u bob --password-stdin
program    | echo «<low:6>2x9» \| passwd --stdin bob
program    | echo "bob:«<low:6>2x9»" \| chpasswd
program    | sudo -S <<< '«<low:6>2x9»' ls
program    | ssh-keygen -t ed25519 -N «<low:6>2x9» -f k
program    | useradd -p «<low:6>2x9» bob
program    | mysqladmin -u root password «<low:6>2x9»
program    | mysql --user=root --password=«swordfish»
program    | curl --user bob:«swordfish» https://h
program    | curl -ubob:«swordfish» https://h
program    | gh auth login --with-token <<< «<an:20>»
program    | npm config set //registry.npmjs.org/:_authToken «<an:20>»
program    | svn co --username bob --password «swordfish» u
program    | java -Dpassword=«swordfish» -jar x
program    | ansible-playbook x -e ansible_password=«swordfish»
program    | pdftk a.pdf input_pw «<low:6>2x9» output b.pdf
program    | qpdf --password=«swordfish» --decrypt a b
program    | kinit <<< «<low:6>2x9»
program    | rabbitmqctl add_user bob «<low:6>2x9»
program    | consul login -token «<an:20>»
program    | nomad job run -token=«<an:20>» x
program    | kubectl config set-credentials bob --token=«<an:20>»
program    | kubectl create secret docker-registry r --docker-password=«swordfish»
program    | smbmap -u bob -p «<low:6>2x9» -H h
program    | restic -r x --password-command 'echo «<low:6>2x9»'
spaced     | app_password: «abcd efgh ijkl mnop»
spaced     | GMAIL_APP_PASSWORD="«abcd efgh ijkl mnop»"
spaced     | SMTP_PASS=«abcd efgh ijkl mnop»
spaced     | app password: «xkcd-plmq-wert-zuio»
spaced     | WP_APP_PASSWORD='«AbCd 1234 eFgH 5678 iJkL 9012»'
sign       | DB_PASSWORD='«$ecr3tP!9»'
sign       | password: «$ecr3tPx9»
sign       | DB_PASSWORD=«(abc9XQ!z»
sign       | password="«(hunter)2x9»"
sign       | password=«/kP9xQ2/abZ»
sign       | password: "«/kP9xQ2abZ»"
sign       | password=«example-7fK29xQpL»
sign       | API_KEY=«example-<an:20>»
sign       | token=«test-<an:20>»
sign       | password="«hun,ter;2x9»"
sign       | PASSWORD=«ab1x,cd9Q»
sign       | PASSWORD=«ab1x;cd9Q»\n
sign       | password: «hun,ter2x9»
sign       | Server=db;Password=«<low:6>2x9»;Encrypt=yes
sign       | password="«correct,horse;9»"
sign       | PASSWORD=«#<low:6>2x9»
sign       | PASSWORD=«!<low:6>2x9»
sign       | PASSWORD=«&<low:6>2x9»
sign       | PASSWORD=«*<low:6>2x9»
sign       | PASSWORD=«@<low:6>2x9»
sign       | PASSWORD=«[<low:6>2x9»
sign       | PASSWORD=«{<low:6>2x9»
sign       | PASSWORD=«~<low:6>2x9»
sign       | PASSWORD=«%<low:6>2x9»
sign       | PASSWORD=«-<low:6>2x9»
sign       | PASSWORD=«:<low:6>2x9»
sign       | PASSWORD=«.<low:6>2x9»
sign       | PASSWORD=«^<low:6>2x9»
sign       | PASSWORD='«hun"ter2x9»'
sign       | PASSWORD="«hun'ter2x9»"
sign       | password="«<low:6>2x9)»"
sign       | password=«hunter(2x9»
sign       | password=«hun$ter2x9»
sign       | password=«hun{ter}2x9»
language   | mot de passe : «<low:6>2x9»
language   | Mot de passe: «<low:6>2x9»
language   | mot_de_passe=«<low:6>2x9»
language   | motdepasse=«<low:6>2x9»
language   | mdp: «<low:6>2x9»
language   | пароль: «<low:6>2x9»
language   | Пароль = «<low:6>2x9»
language   | 密码：«<low:6>2x9»
language   | 密码是«<low:6>2x9»
language   | 密碼: «<low:6>2x9»
language   | パスワード：«<low:6>2x9»
language   | パスワードは「«<low:6>2x9»」です
language   | Passwort: «<low:6>2x9»
language   | Kennwort=«<low:6>2x9»
language   | contraseña: «<low:6>2x9»
language   | contrasena: «<low:6>2x9»
language   | senha: «<low:6>2x9»
language   | hasło: «<low:6>2x9»
language   | haslo=«<low:6>2x9»
language   | wachtwoord: «<low:6>2x9»
language   | lösenord: «<low:6>2x9»
language   | şifre: «<low:6>2x9»
language   | sifre=«<low:6>2x9»
language   | 비밀번호: «<low:6>2x9»
language   | 비밀번호는 «<low:6>2x9»
language   | 암호: «<low:6>2x9»
language   | "密码": "«<low:6>2x9»"
language   | "пароль": "«<low:6>2x9»"
language   | clé API : «<an:20>»
language   | токен: «<an:20>»
language   | 令牌：«<an:20>»
language   | 密钥: «<an:20>»
language   | トークン: «<an:20>»
language   | jeton: «<an:20>»
language   | heslo: «<low:6>2x9»
language   | jelszó: «<low:6>2x9»
language   | salasana: «<low:6>2x9»
language   | adgangskode: «<low:6>2x9»
language   | passord: «<low:6>2x9»
language   | parola: «<low:6>2x9»
language   | κωδικός: «<low:6>2x9»
language   | סיסמה: «<low:6>2x9»
language   | كلمة المرور: «<low:6>2x9»
language   | पासवर्ड: «<low:6>2x9»
language   | รหัสผ่าน: «<low:6>2x9»
language   | mật khẩu: «<low:6>2x9»
language   | kata sandi: «<low:6>2x9»
language   | лозинка: «<low:6>2x9»
language   | 暗証番号: «482913»
language   | 口令: «<low:6>2x9»
language   | pass¬wort: «<low:6>2x9»
language   | パ◦スワード: «<low:6>2x9»
key tail   | «<b64:64>\n<b64:64>\n<b64:20>==\n-----END RSA <PRIVATE> KEY-----»
key tail   |     12→«<b64:64>\n    13→<b64:20>=\n    14→-----END OPENSSH <PRIVATE> KEY-----»
key tail   | $ tail -3 k\\n«<b64:64>\\n<b64:20>==\\n-----END <PRIVATE> KEY-----»\\n
key tail   | > «<b64:64>\n> <b64:64>\n> -----END EC <PRIVATE> KEY-----»
wrapped    | use «ghp_<an:20>\n<an:14>aB» x
wrapped    | use «ghp_<an:20>\⏎<an:14>aB» x
wrapped    | use «ghp_<an:20>␍\n<an:14>aB» x
wrapped    | id «AKIA<b32:7>\n<b32:9>» x
wrapped    | Bearer «eyJ<url:33>.eyJ<url:40>\n<url:38>k7.<url:43>»
wrapped    | key = "«ghp_<an:20>" +\n  "<an:14>aB»"
wrapped    | key = ('«glpat-<an:9>'\n       '<an:9>aB»')
wrapped    | export OPENAI_API_KEY=«sk-proj-<url:60>\n<url:60>\n<url:18>a7»
wrapped    | $ curl -H "Authorization: Bearer «<an:50>\n<an:20>a7»" https://h
"""
_MARKS = {"␛": "\x1b", "◦": "\u200b", "¬": "\u00ad", "<PRIVATE>": "PRIVATE"}
_LINE_ENDS = str.maketrans("⏎␍", "\n\r")
"""Characters and words that do not stand in the source as they are."""


def third(seed: int = 1) -> Iterator[tuple[str, Planted]]:
    """Yield a planted secret of each line with its cause."""
    lines = _LINES
    for mark, meaning in _MARKS.items():
        lines = lines.replace(mark, meaning)
    for cause, made in planted_lines(lines, Random(seed)):
        yield cause, made._replace(text=made.text.translate(_LINE_ENDS))
