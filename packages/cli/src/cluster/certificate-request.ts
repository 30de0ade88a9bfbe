import { isIP } from "node:net";
import { ShoalError } from "@shoal/model";

export const ROLES = ["coordinator", "gateway", "storage-node", "contextionary", "etcd"] as const;

/** What the certificates of all but storage nodes say; a node of such a name could pass for one. */
const ROLE_NAMES: readonly string[] = ROLES.filter((role) => role !== "storage-node");
export type Role = (typeof ROLES)[number];

/** A process that needs a certificate. */
export interface CertificateRequest {
  /** Names its folder; of a storage node also its identity (`CLUSTER_HOSTNAME`). */
  readonly name: string;
  readonly role: Role;
  /** Host names and IP addresses under which others reach it. */
  readonly hosts: readonly string[];
}

/** What becomes a folder, and a DNS name in a certificate. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

/** `name:role:host,host`; the hosts may be left out. Fails with `invalid`. */
export function readCertificateRequest(text: string): CertificateRequest {
  const [name = "", roleName = "", ...rest] = text.split(":");
  const role = ROLES.find((one) => one === roleName);
  // An IPv6 address has colons of its own.
  const hosts = rest
    .join(":")
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "");
  if (!NAME.test(name) || role === undefined) {
    throw new ShoalError(
      "invalid",
      `--name must be name:role:host,… with one of the roles ${ROLES.join(", ")}, got ${JSON.stringify(text)}`,
    );
  }
  const wrong = hosts.find((host) => isIP(host) === 0 && !NAME.test(host));
  if (wrong !== undefined) {
    throw new ShoalError("invalid", `--name ${name}: '${wrong}' is no host name and no IP address`);
  }
  // Names are what processes know each other by.
  const borrowed = [name, ...hosts].find((one) => one !== role && ROLE_NAMES.includes(one));
  if (borrowed !== undefined) {
    throw new ShoalError("invalid", `--name ${name}: a ${role} must not be called '${borrowed}', that is another role`);
  }
  return { name, role, hosts };
}

/** What the certificate says its owner is: the node's own name, or its role; then where it is reached. */
export function identitiesOf({ name, role, hosts }: CertificateRequest): readonly string[] {
  return [...new Set([role === "storage-node" ? name : role, ...hosts])];
}
