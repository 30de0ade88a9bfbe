import { access, chown, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import type { CertificateRequest } from "./certificate-request.js";
import { type CertificatePair, makeAuthority, signCertificate } from "./certificates.js";

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
