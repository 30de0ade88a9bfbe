import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { makePrivateFolder } from "./private-folder.js";

/** A process that needs a certificate: `role` as `shoal cluster certs` takes it. */
export interface CertifiedProcess {
  readonly name: string;
  readonly role: string;
}

/** The files of one process. */
export interface CertificateFiles {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 90;
/** Time enough to be started again, or to be looked at by a process that runs. */
const LEFT_MS_MIN = 30 * DAY_MS;
/** Under which all processes of the machine reach each other. */
const HOSTS = "127.0.0.1,localhost";

export function certificateFiles(folder: string, name: string): CertificateFiles {
  const file = (one: string): string => join(folder, name, `${one}.pem`);
  return { ca: file("ca"), certificate: file("cert"), key: file("key") };
}

/**
 * Certificates for all of them in `folder`, which nobody else may enter: made where they are missing, and again when one runs
 * out within a month, the authority too. True when any was made. `command` is that of `shoal`. Fails with `unavailable`.
 */
export function makeCertificates(
  folder: string,
  processes: readonly CertifiedProcess[],
  command: readonly string[],
  nowMs: number,
): boolean {
  const authority = join(folder, "ca.pem");
  const isRunningOut = (file: string): boolean => leftMs(file, nowMs) < LEFT_MS_MIN;
  // An authority that ends takes all certificates with it.
  if (existsSync(authority) && isRunningOut(authority)) rmSync(folder, { recursive: true });
  if (!processes.some(({ name }) => isRunningOut(certificateFiles(folder, name).certificate))) return false;
  makePrivateFolder(folder);
  const [program = "", ...options] = command;
  const names = processes.map(({ name, role }) => `${name}:${role}:${HOSTS}`);
  const args = ["cluster", "certs", "--out", folder, "--days", String(VALID_DAYS), "--name", ...names];
  const { status, stderr, error } = spawnSync(program, [...options, ...args], { encoding: "utf8" });
  if (status === 0) return true;
  throw new ShoalError("unavailable", `the cluster's certificates cannot be made: ${error?.message ?? stderr}`);
}

/** How long a certificate is still good; 0 when there is none. */
function leftMs(file: string, nowMs: number): number {
  try {
    return Date.parse(new X509Certificate(readFileSync(file)).validTo) - nowMs;
  } catch {
    return 0;
  }
}
