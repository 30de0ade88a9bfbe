import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { SERVER_MAIN } from "../server-process.js";
import type { Role } from "./cluster-member.js";

const run = promisify(execFile);

/** Whom a certificate is for. */
export interface CertificateHolder {
  readonly name: string;
  readonly role: Role;
  readonly host: string;
}

/** The certificates of a cluster, made by `shoal cluster certs` as people make theirs. */
export class Certificates {
  constructor(readonly folder: string) {}

  /** Of what is in the folder of `name`. */
  file(name: string, what: "ca" | "cert" | "key"): string {
    return join(this.folder, name, `${what}.pem`);
  }

  /** What a process needs to speak mutual TLS as `name`. */
  settingsOf(name: string): Readonly<Record<string, string>> {
    return {
      INTERNAL_TLS: "on",
      INTERNAL_TLS_CA_FILE: this.file(name, "ca"),
      INTERNAL_TLS_CERT_FILE: this.file(name, "cert"),
      INTERNAL_TLS_KEY_FILE: this.file(name, "key"),
    };
  }
}

/** A new authority in `folder`, and a certificate of it for each holder. */
export async function makeCertificates(folder: string, holders: readonly CertificateHolder[]): Promise<Certificates> {
  const names = holders.flatMap(({ name, role, host }) => ["--name", `${name}:${role}:${host}`]);
  await run(process.execPath, [SERVER_MAIN, "cluster", "certs", "--out", folder, ...names]);
  return new Certificates(folder);
}
