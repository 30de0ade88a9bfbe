// Renews the certificates of a release that run out: signs new ones with the authority, and puts them into their Secrets.
// Processes read them again without a restart. CERTIFICATES: a list of {secret, name, role, hosts}.
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const {
  API = "https://kubernetes.default.svc",
  TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token",
  AUTHORITY = "/authority",
  WORK = "/tmp",
  SHOAL = "/app/packages/cli/dist/main.js",
  NAMESPACE = "",
  VALIDITY_DAYS = "90",
  CERTIFICATES = "[]",
} = process.env;

async function ask(secret, method, headers = {}, body = undefined) {
  const authorization = `Bearer ${readFileSync(TOKEN_FILE, "utf8").trim()}`;
  const url = `${API}/api/v1/namespaces/${NAMESPACE}/secrets/${secret}`;
  const signal = AbortSignal.timeout(30_000);
  const answer = await fetch(url, { method, headers: { authorization, ...headers }, body, signal });
  if (!answer.ok) throw new Error(`${method} of Secret ${secret}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const DAY_MS = 86_400_000;

/** Less than a third of its life is left, it lives far longer than it is to (earlier charts), or it is of another authority. */
function isDue(data, authority) {
  const certificate = new X509Certificate(Buffer.from(data?.["tls.crt"] ?? "", "base64"));
  const [from, to] = [certificate.validFrom, certificate.validTo].map((text) => Date.parse(text));
  const isLong = to - from > 2 * Number(VALIDITY_DAYS) * DAY_MS;
  return isLong || to - Date.now() < (to - from) / 3 || !certificate.verify(authority.publicKey);
}

const folder = join(WORK, "authority");
mkdirSync(folder, { recursive: true, mode: 0o700 });
copyFileSync(join(AUTHORITY, "tls.crt"), join(folder, "ca.pem"));
copyFileSync(join(AUTHORITY, "tls.key"), join(folder, "ca-key.pem"));
const authority = new X509Certificate(readFileSync(join(folder, "ca.pem")));
let failures = 0;
for (const { secret, name, role, hosts } of JSON.parse(CERTIFICATES)) {
  try {
    const { data } = await ask(secret, "GET");
    if (!isDue(data, authority)) continue;
    const out = join(WORK, "out");
    const args = ["cluster", "certs", "--authority", folder, "--out", out, "--days", VALIDITY_DAYS];
    // Not synchronously: a connection that the API closes meanwhile would be taken for one that still works.
    await promisify(execFile)(process.execPath, [SHOAL, ...args, "--name", `${name}:${role}:${hosts.join(",")}`]);
    const read = (file) => readFileSync(join(out, name, file)).toString("base64");
    const fresh = { "ca.crt": read("ca.pem"), "tls.crt": read("cert.pem"), "tls.key": read("key.pem") };
    const headers = { "content-type": "application/merge-patch+json" };
    await ask(secret, "PATCH", headers, JSON.stringify({ data: fresh }));
    console.log(`${secret} is renewed`);
  } catch (error) {
    failures++;
    console.error(error.message);
  }
}
process.exit(failures === 0 ? 0 : 1);
