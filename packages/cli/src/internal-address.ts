import { type Configuration, type InternalTlsFiles, internalTlsFiles, type Logger } from "@shoal/service-runtime";

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** `host:port` under which the others reach this storage node: as configured, or what it listens on. */
export function advertisedAddress(
  { internalAdvertisedAddress, internalHost }: Pick<Configuration, "internalAdvertisedAddress" | "internalHost">,
  port: number,
  machineName: string,
): string {
  if (internalAdvertisedAddress !== undefined) return internalAdvertisedAddress;
  const host = EVERY_ADDRESS.includes(internalHost) ? machineName : internalHost;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** What everybody should know who runs it so: loopback keeps other machines out, and nobody of this one. */
const PLAIN_TEXT =
  "without TLS between the processes (INTERNAL_TLS) any program that reaches their ports, also one of this machine, can read " +
  "and change all data and pass for one of them: `shoal cluster certs` makes certificates";

/** The files of mutual TLS of a process that listens on one address and asks nobody. */
export function tlsFilesOfListener(
  configuration: Parameters<typeof internalTlsFiles>[0],
  host: string,
  logger: Logger,
): InternalTlsFiles | undefined {
  const files = internalTlsFiles(configuration, [host]);
  if (files === undefined) logger.warn({ internalTls: configuration.internalTls }, PLAIN_TEXT);
  return files;
}

type TlsSettings = Parameters<typeof internalTlsFiles>[0] &
  Pick<Configuration, "internalHost" | "internalAdvertisedAddress" | "coordinatorAddresses">;

/** The files of mutual TLS of a process that listens for others and asks the coordinators; a warning where there are none. */
export function tlsFilesOf(
  configuration: TlsSettings,
  role: "coordinator" | "gateway" | "storage-node",
  logger: Logger,
): InternalTlsFiles | undefined {
  const files = filesOf(configuration, role);
  if (files === undefined) logger.warn({ internalTls: configuration.internalTls }, PLAIN_TEXT);
  return files;
}

function filesOf(
  configuration: TlsSettings,
  role: "coordinator" | "gateway" | "storage-node",
): InternalTlsFiles | undefined {
  const { internalHost, internalAdvertisedAddress, coordinatorAddresses } = configuration;
  const listening = role === "gateway" ? [] : [internalHost];
  const advertised =
    role === "storage-node" && internalAdvertisedAddress !== undefined ? [internalAdvertisedAddress] : [];
  const asked = role === "coordinator" ? [] : coordinatorAddresses;
  return internalTlsFiles(configuration, [...listening, ...advertised, ...asked]);
}
