import { createPrivateKey, X509Certificate } from "node:crypto";
import type { EtcdCertificates } from "@shoal/coordinator/etcd";
import type { ServerCertificate, ServerCertificateSource } from "@shoal/gateway";
import { ShoalError } from "@shoal/model";
import { peerNames, type TlsMaterial, type TlsSource } from "@shoal/rpc";
import {
  type Configuration,
  type InternalTlsFiles,
  internalTlsFiles,
  type Logger,
  type ResourceScope,
} from "@shoal/service-runtime";
import { type FollowedFiles, followFiles, readFollowedFile } from "./followed-files.js";

/** What everybody should know who runs it so: loopback keeps other machines out, and nobody of this one. */
const PLAIN_TEXT =
  "without TLS between the processes (INTERNAL_TLS) any program that reaches their ports, also one of this machine, can read " +
  "and change all data and pass for one of them: `shoal cluster certs` makes certificates";

type FileSettings = Parameters<typeof internalTlsFiles>[0];
type TlsSettings = FileSettings &
  Pick<Configuration, "internalHost"> &
  Partial<Pick<Configuration, "internalAdvertisedAddress" | "coordinatorAddresses">>;
type Role = "coordinator" | "gateway" | "storage-node" | "contextionary";

/**
 * By what this process proves itself to the others. Undefined, with a warning, where they talk in the clear. Fails with `invalid` when
 * the files are missing or do not fit together, and when the certificate of a coordinator or contextionary is another one's.
 */
export async function followInternalTls(
  configuration: TlsSettings,
  role: Role,
  logger: Logger,
  scope: ResourceScope,
): Promise<TlsSource | undefined> {
  const files = tlsFilesOf(configuration, role, logger);
  const tls = files && (await followTlsFiles(files, logger, scope));
  // A storage node's is checked when its name is known, a gateway's by those that it asks.
  if (tls && (role === "coordinator" || role === "contextionary")) refuseForeignCertificate(role, configuration, tls);
  return tls;
}

/** The files of mutual TLS of a process that listens for others, asks the coordinators, or both; a warning where there are none. */
export function tlsFilesOf(configuration: TlsSettings, role: Role, logger: Logger): InternalTlsFiles | undefined {
  const { internalHost, internalAdvertisedAddress, coordinatorAddresses = [] } = configuration;
  const listening = role === "gateway" ? [] : [internalHost];
  const advertised =
    role === "storage-node" && internalAdvertisedAddress !== undefined ? [internalAdvertisedAddress] : [];
  const asked = role === "gateway" || role === "storage-node" ? coordinatorAddresses : [];
  const files = internalTlsFiles(configuration, [...listening, ...advertised, ...asked]);
  if (files === undefined) logger.warn({ internalTls: configuration.internalTls }, PLAIN_TEXT);
  return files;
}

/** Fails with `invalid` when the others would not take whoever has that certificate for `name`. */
export function refuseForeignCertificate(
  name: string,
  { internalTlsCertFile }: Pick<FileSettings, "internalTlsCertFile">,
  tls: TlsSource,
): void {
  const { subjectAltName: subjectaltname = "" } = new X509Certificate(tls.current().certificate);
  const names = peerNames({ subjectaltname });
  if (names.includes(name)) return;
  const holder = names.map((one) => `'${one}'`).join(", ") || "nobody";
  throw new ShoalError(
    "invalid",
    `INTERNAL_TLS_CERT_FILE '${internalTlsCertFile}' is the certificate of ${holder}, not of '${name}'`,
  );
}

/** By what this process proves itself to a contextionary; undefined: it is asked in the clear. Fails with `invalid` without files. */
export async function contextionaryTls(
  settings: FileSettings & Pick<Configuration, "contextionaryTls" | "contextionaryUrl">,
  logger: Logger,
  scope: ResourceScope,
): Promise<TlsSource | undefined> {
  if (!settings.contextionaryTls) return undefined;
  if (settings.contextionaryUrl === undefined) {
    throw new ShoalError("invalid", "CONTEXTIONARY_TLS is on, and CONTEXTIONARY_URL names no contextionary");
  }
  // Also where the other processes are asked in the clear.
  const files = internalTlsFiles({ ...settings, internalTls: "on" }, []);
  return files && (await followTlsFiles(files, logger, scope));
}

/** What the files of mutual TLS hold, followed. Fails with `invalid` when they do not fit together at the start. */
export function followTlsFiles(
  { caFile, certFile, keyFile }: InternalTlsFiles,
  logger: Logger,
  scope: ResourceScope,
  lookMs?: number,
): Promise<TlsSource> {
  const read = async (): Promise<TlsMaterial> => {
    const ca = await readCertificates("INTERNAL_TLS_CA_FILE", caFile);
    return { ca, ...(await readPair(["INTERNAL_TLS_CERT_FILE", certFile], ["INTERNAL_TLS_KEY_FILE", keyFile])) };
  };
  return followFiles({ paths: [caFile, certFile, keyFile], read, logger, lookMs }, scope);
}

/** What the files of the public port hold (`TLS_CERT_FILE`), followed; undefined when none are set. Fails as the above. */
export async function followServerCertificate(
  { tlsCertFile, tlsKeyFile }: Pick<Configuration, "tlsCertFile" | "tlsKeyFile">,
  logger: Logger,
  scope: ResourceScope,
): Promise<ServerCertificateSource | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  const read = (): Promise<ServerCertificate> => readPair(["TLS_CERT_FILE", tlsCertFile], ["TLS_KEY_FILE", tlsKeyFile]);
  return followFiles({ paths: [tlsCertFile, tlsKeyFile], read, logger }, scope);
}

type EtcdFiles = Pick<Configuration, "etcdCaFile" | "etcdCertFile" | "etcdKeyFile">;

/** What `ETCD_…_FILE` hold, as far as they are given, followed. Fails with `invalid` when they cannot be used at the start. */
export function followEtcdCertificates(
  { etcdCaFile, etcdCertFile, etcdKeyFile }: EtcdFiles,
  logger: Logger,
  scope: ResourceScope,
  lookMs?: number,
): Promise<FollowedFiles<EtcdCertificates>> {
  const read = async (): Promise<EtcdCertificates> => {
    const ca = etcdCaFile === undefined ? undefined : await readCertificates("ETCD_CA_FILE", etcdCaFile);
    if (etcdCertFile === undefined && etcdKeyFile === undefined) return { ca };
    if (etcdCertFile === undefined || etcdKeyFile === undefined) {
      throw new ShoalError("invalid", "ETCD_CERT_FILE and ETCD_KEY_FILE belong together: one of them is not set");
    }
    const { certificate, key } = await readPair(["ETCD_CERT_FILE", etcdCertFile], ["ETCD_KEY_FILE", etcdKeyFile]);
    return { ca, cert: certificate, key };
  };
  const paths = [etcdCaFile, etcdCertFile, etcdKeyFile].filter((path) => path !== undefined);
  return followFiles({ paths, read, logger, lookMs }, scope);
}

/** A setting and the file that it names. */
type NamedFile = readonly [variable: string, file: string];

/** Fails with `invalid` on what cannot be read or is none, and on the key of another certificate. */
async function readPair(
  [certVariable, certFile]: NamedFile,
  [keyVariable, keyFile]: NamedFile,
): Promise<ServerCertificate> {
  const certificate = await readCertificates(certVariable, certFile);
  const key = await readFollowedFile(keyVariable, keyFile);
  checked(`${keyVariable} '${keyFile}' is no private key`, () => createPrivateKey(key));
  if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return { certificate, key };
  throw new ShoalError("invalid", `the key in '${keyFile}' does not belong to the certificate in '${certFile}'`);
}

/** Fails with `invalid`, naming `variable`, on a file that cannot be read or holds no certificate. */
async function readCertificates(variable: string, file: string): Promise<Buffer> {
  const pem = await readFollowedFile(variable, file);
  checked(`${variable} '${file}' is no certificate`, () => new X509Certificate(pem));
  return pem;
}

/** The reason of OpenSSL says nothing to people. */
function checked(message: string, parse: () => unknown): void {
  try {
    parse();
  } catch (thrown) {
    throw new ShoalError("invalid", `${message} in PEM`, { cause: thrown });
  }
}
