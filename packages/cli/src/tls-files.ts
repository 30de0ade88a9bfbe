import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ServerCertificate, ServerCertificateSource } from "@shoal/gateway";
import { ShoalError } from "@shoal/model";
import type { TlsMaterial, TlsSource } from "@shoal/rpc";
import type { Configuration, InternalTlsFiles, Logger, ResourceScope } from "@shoal/service-runtime";
import { followFiles } from "./followed-files.js";
import { readFollowedFile } from "./read-followed-file.js";

/** What the files of mutual TLS hold, followed. Fails with `invalid` when they do not fit together at the start. */
export function followTlsFiles(
  files: InternalTlsFiles,
  logger: Logger,
  scope: ResourceScope,
  lookMs?: number,
): Promise<TlsSource> {
  const { caFile, certFile, keyFile } = files;
  return followFiles({ paths: [caFile, certFile, keyFile], read: () => readMaterial(files), logger, lookMs }, scope);
}

/** What the files of the public port hold (`TLS_CERT_FILE`), followed; undefined when none are set. Fails as the above. */
export async function followServerCertificate(
  { tlsCertFile, tlsKeyFile }: Pick<Configuration, "tlsCertFile" | "tlsKeyFile">,
  logger: Logger,
  scope: ResourceScope,
  lookMs?: number,
): Promise<ServerCertificateSource | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  const read = async (): Promise<ServerCertificate> => {
    const [certificate, key] = await Promise.all([
      readCertificates("TLS_CERT_FILE", tlsCertFile),
      readKey("TLS_KEY_FILE", tlsKeyFile),
    ]);
    checkPair(certificate, tlsCertFile, key, tlsKeyFile);
    return { certificate, key };
  };
  return followFiles({ paths: [tlsCertFile, tlsKeyFile], read, logger, lookMs }, scope);
}

async function readMaterial({ caFile, certFile, keyFile }: InternalTlsFiles): Promise<TlsMaterial> {
  const [ca, certificate, key] = await Promise.all([
    readCertificates("INTERNAL_TLS_CA_FILE", caFile),
    readCertificates("INTERNAL_TLS_CERT_FILE", certFile),
    readKey("INTERNAL_TLS_KEY_FILE", keyFile),
  ]);
  checkPair(certificate, certFile, key, keyFile);
  return { ca, certificate, key };
}

/** Fails with `invalid`, naming `variable`, on a file that cannot be read or holds no certificate. */
export async function readCertificates(variable: string, file: string): Promise<Buffer> {
  const pem = await readFollowedFile(variable, file);
  checked(`${variable} '${file}' is no certificate`, () => new X509Certificate(pem));
  return pem;
}

/** As {@link readCertificates}. */
export async function readKey(variable: string, file: string): Promise<Buffer> {
  const pem = await readFollowedFile(variable, file);
  checked(`${variable} '${file}' is no private key`, () => createPrivateKey(pem));
  return pem;
}

/** Fails with `invalid` on the key of another certificate. */
export function checkPair(certificate: Buffer, certFile: string, key: Buffer, keyFile: string): void {
  if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return;
  throw new ShoalError("invalid", `the key in '${keyFile}' does not belong to the certificate in '${certFile}'`);
}

/** The reason of OpenSSL says nothing to people. */
function checked(message: string, parse: () => unknown): void {
  try {
    parse();
  } catch (thrown) {
    throw new ShoalError("invalid", `${message} in PEM`, { cause: thrown });
  }
}
