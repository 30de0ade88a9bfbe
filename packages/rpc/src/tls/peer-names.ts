import type { PeerCertificate } from "node:tls";

/** The DNS names in `subjectAltName`: who the owner of a certificate is. */
export function peerNames(certificate: Pick<PeerCertificate, "subjectaltname">): readonly string[] {
  // Names with unusual characters are quoted by Node; none of ours has any.
  return (certificate.subjectaltname ?? "")
    .split(", ")
    .filter((entry) => entry.startsWith("DNS:"))
    .map((entry) => entry.slice("DNS:".length));
}
