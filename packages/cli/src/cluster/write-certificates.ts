import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import type { CertificateRequest } from "./certificate-request.js";
import { type CertificatePair, makeAuthority, signCertificate } from "./certificates.js";

const CERTIFICATE_MODE = 0o644;
const KEY_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Writes `<folder>/<name>/{ca,cert,key}.pem` for every process, signed by the authority in `<folder>/ca.pem` and
 * `ca-key.pem`, which is made when there is none. What was there is replaced file by file, so that a process that reads
 * its files again never sees half of one. The names of the folders that were written.
 */
export async function writeCertificates(
  folder: string,
  requests: readonly CertificateRequest[],
  days: number,
  nowMs: number,
): Promise<readonly string[]> {
  const twice = requests.find((one, at) => requests.findIndex(({ name }) => name === one.name) !== at);
  if (twice !== undefined) throw new ShoalError("invalid", `--name ${twice.name} stands there twice`);
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const authority = await authorityOf(folder, nowMs);
  const written: string[] = [];
  for (const request of requests) {
    const { certificate, key } = await signCertificate(authority, request, days, nowMs);
    const own = join(folder, request.name);
    await mkdir(own, { recursive: true, mode: FOLDER_MODE });
    await replaceFile(join(own, "ca.pem"), authority.certificate, CERTIFICATE_MODE);
    await replaceFile(join(own, "key.pem"), key, KEY_MODE);
    await replaceFile(join(own, "cert.pem"), certificate, CERTIFICATE_MODE);
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

async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await writeFile(`${path}.new`, text, { mode });
  await rename(`${path}.new`, path);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
