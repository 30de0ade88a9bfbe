import type { Configuration } from "@shoal/service-runtime";

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
