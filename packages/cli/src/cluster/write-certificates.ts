import "reflect-metadata";
import { createPrivateKey, webcrypto } from "node:crypto";
import { access, chown, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { ShoalError } from "@shoal/model";
import { type CertificateRequest, identitiesOf } from "./certificate-request.js";

const CERTIFICATE_MODE = 0o644;
const KEY_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface CertificateOptions {
  readonly days: number;
  readonly nowMs: number;
  /** Folder of the authority, which no process may read; that of the certificates when absent. */
  readonly authority?: string | undefined;
  /** Whose the files of the processes are, and the folders that are made for them; absent: whose this process is. */
  readonly owner?: FileOwner | undefined;
}

export interface FileOwner {
  readonly user: number;
  readonly group: number;
}

/**
 * Writes `<folder>/<name>/{ca,cert,key}.pem` for every process, signed by the authority in `ca.pem` and `ca-key.pem` of its own
 * folder, which is made when there is none. What was there is replaced file by file, so that a process that reads
 * its files again never sees half of one. The names of the folders that were written.
 */
export async function writeCertificates(
  folder: string,
  requests: readonly CertificateRequest[],
  { days, nowMs, authority: authorityFolder = folder, owner }: CertificateOptions,
): Promise<readonly string[]> {
  const twice = requests.find((one, at) => requests.findIndex(({ name }) => name === one.name) !== at);
  if (twice !== undefined) throw new ShoalError("invalid", `--name ${twice.name} stands there twice`);
  await mkdir(authorityFolder, { recursive: true, mode: FOLDER_MODE });
  const authority = await authorityOf(authorityFolder, nowMs);
  const written: string[] = [];
  for (const request of requests) {
    const { certificate, key } = await signCertificate(authority, request, days, nowMs);
    const own = join(folder, request.name);
    const made = await mkdir(own, { recursive: true, mode: FOLDER_MODE });
    // A volume stays whose it is.
    if (made !== undefined && owner !== undefined) await chown(own, owner.user, owner.group);
    await replaceFile(join(own, "ca.pem"), authority.certificate, CERTIFICATE_MODE, owner);
    await replaceFile(join(own, "key.pem"), key, KEY_MODE, owner);
    await replaceFile(join(own, "cert.pem"), certificate, CERTIFICATE_MODE, owner);
    written.push(own);
  }
  return written;
}

async function authorityOf(folder: string, nowMs: number): Promise<CertificatePair> {
  const files = { certificate: join(folder, "ca.pem"), key: join(folder, "ca-key.pem") };
  const [hasCertificate, hasKey] = await Promise.all([isThere(files.certificate), isThere(files.key)]);
  if (hasCertificate && hasKey) {
    return { certificate: await readFile(files.certificate, "utf8"), key: await readFile(files.key, "utf8") };
  }
  if (hasCertificate) {
    throw new ShoalError(
      "invalid",
      `'${files.key}' is missing: bring it here, or remove '${files.certificate}' to begin anew`,
    );
  }
  const authority = await makeAuthority(nowMs);
  await replaceFile(files.key, authority.key, KEY_MODE);
  await replaceFile(files.certificate, authority.certificate, CERTIFICATE_MODE);
  return authority;
}

async function replaceFile(path: string, text: string, mode: number, owner?: FileOwner): Promise<void> {
  await writeFile(`${path}.new`, text, { mode });
  if (owner !== undefined) await chown(`${path}.new`, owner.user, owner.group);
  await rename(`${path}.new`, path);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** A certificate and its private key, as PEM. */
interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** Clocks of machines differ. */
const BEFORE_MS = 5 * 60_000;

/** An authority that signs the certificates of one cluster and nothing else; ten years. */
async function makeAuthority(nowMs: number): Promise<CertificatePair> {
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: "CN=Shoal cluster",
      notBefore: new Date(nowMs - BEFORE_MS),
      notAfter: new Date(nowMs + AUTHORITY_DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    },
    webcrypto,
  );
  return { certificate: pem(certificate), key: await exportKey(keys) };
}

/**
 * A certificate with which a process both serves and asks, with a new key. It never outlives the authority. Fails with
 * `invalid` when the authority has expired, or is none.
 */
async function signCertificate(
  authority: CertificatePair,
  request: CertificateRequest,
  days: number,
  nowMs: number,
): Promise<CertificatePair> {
  const issuer = new X509Certificate(authority.certificate);
  if (issuer.notAfter.getTime() <= nowMs) {
    throw new ShoalError("invalid", `the authority has expired on ${issuer.notAfter.toISOString()}: make another one`);
  }
  const keys = await makeKeys();
  const signer = await importKey(authority.key);
  const names = identitiesOf(request).map((value) => ({
    type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const),
    value,
  }));
  const certificate = await X509CertificateGenerator.create(
    {
      // At most 64 characters; what counts are the names below.
      subject: [{ CN: [request.name.slice(0, 64)] }],
      issuer: issuer.subject,
      notBefore: new Date(nowMs - BEFORE_MS),
      notAfter: new Date(Math.min(nowMs + days * DAY_MS, issuer.notAfter.getTime())),
      signingKey: signer.key,
      publicKey: keys.publicKey,
      signingAlgorithm: signer.algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
        new SubjectAlternativeNameExtension(names),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
        await AuthorityKeyIdentifierExtension.create(issuer),
      ],
    },
    webcrypto,
  );
  return { certificate: pem(certificate), key: await exportKey(keys) };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function exportKey({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  return `${PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY")}\n`;
}

/** The key of an authority, ours or one that something else made (Helm: RSA), in any form of PEM. */
async function importKey(text: string) {
  const key = createPrivateKey(text);
  const isRsa = key.asymmetricKeyType === "rsa";
  if (!isRsa && key.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    throw new ShoalError("invalid", "the key of the authority must be of RSA, or of the curve P-256");
  }
  const algorithm = isRsa ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } : ALGORITHM;
  const bytes = key.export({ type: "pkcs8", format: "der" });
  return { algorithm, key: await webcrypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]) };
}

function pem(certificate: X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}
