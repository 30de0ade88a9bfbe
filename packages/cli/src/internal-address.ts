import { type Configuration, type InternalTlsFiles, internalTlsFiles } from "@shoal/service-runtime";

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

/** The files of mutual TLS of a process that listens for others and asks the coordinators. */
export function tlsFilesOf(
  configuration: Configuration,
  role: "coordinator" | "gateway" | "storage-node",
): InternalTlsFiles | undefined {
  const { internalHost, internalAdvertisedAddress, coordinatorAddresses } = configuration;
  const listening = role === "gateway" ? [] : [internalHost];
  const advertised =
    role === "storage-node" && internalAdvertisedAddress !== undefined ? [internalAdvertisedAddress] : [];
  const asked = role === "coordinator" ? [] : coordinatorAddresses;
  return internalTlsFiles(configuration, [...listening, ...advertised, ...asked]);
}
