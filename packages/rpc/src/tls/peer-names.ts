import type { PeerCertificate } from "node:tls";
import type { ServerUnaryCall } from "@grpc/grpc-js";

/** The DNS names in `subjectAltName`: who the owner of a certificate is. */
export function peerNames(certificate: Pick<PeerCertificate, "subjectaltname">): readonly string[] {
  // Names with unusual characters are quoted by Node; none of ours has any.
  return (certificate.subjectaltname ?? "")
    .split(", ")
    .filter((entry) => entry.startsWith("DNS:"))
    .map((entry) => entry.slice("DNS:".length));
}

/** Who a caller proves to be; none without TLS. */
export function certificateNames(call: Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext">): readonly string[] {
  return peerNames(call.getAuthContext().sslPeerCertificate ?? {});
}

export function inWords(names: readonly string[]): string {
  return names.map((one) => `'${one}'`).join(", ") || "nobody";
}
