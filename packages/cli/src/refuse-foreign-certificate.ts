import { X509Certificate } from "node:crypto";
import { ShoalError } from "@shoal/model";
import { peerNames, type TlsSource } from "@shoal/rpc";
import type { InternalTlsFiles } from "@shoal/service-runtime";

/** Fails with `invalid` when the others would not take whoever has that certificate for `name`. */
export function refuseForeignCertificate(name: string, { certFile }: InternalTlsFiles, tls: TlsSource): void {
  const { subjectAltName: subjectaltname = "" } = new X509Certificate(tls.current().certificate);
  const names = peerNames({ subjectaltname });
  if (names.includes(name)) return;
  const holder = names.map((one) => `'${one}'`).join(", ") || "nobody";
  throw new ShoalError(
    "invalid",
    `INTERNAL_TLS_CERT_FILE '${certFile}' is the certificate of ${holder}, not of '${name}'`,
  );
}
