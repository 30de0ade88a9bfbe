import type { PeerCertificate } from "node:tls";
import { peerNames } from "./peer-names.js";

/** In the certificates of what serves a cluster and is no part of it: it keeps no shards and asks nobody for anything. */
const OUTSIDERS: readonly string[] = ["contextionary", "etcd"];
const MEMBERS: readonly string[] = ["gateway", "coordinator"];

/**
 * Whether a certificate of these names is that of an outsider, whatever hosts it names beside: one could be called like a storage node. So
 * is one without a name, which is nobody's of the cluster.
 */
export function isOutsider(names: readonly string[]): boolean {
  return names.length === 0 || (names.some((name) => OUTSIDERS.includes(name)) && !isMember(names));
}

/** Whether it is that of a gateway or a coordinator. */
export function isMember(names: readonly string[]): boolean {
  return names.some((name) => MEMBERS.includes(name));
}

/**
 * Whose share a caller with that certificate takes from, where shares are bounded: each certificate has one of its own. Undefined for
 * gateways and coordinators: they may be many with one certificate, and are trusted with everything.
 */
export function boundedHolder(
  certificate: Pick<PeerCertificate, "subjectaltname" | "fingerprint256">,
): string | undefined {
  return isMember(peerNames(certificate)) ? undefined : certificate.fingerprint256;
}
