import { type Configuration, PLAIN_SETTINGS } from "@shoal/service-runtime";

/** That of the published containers. */
export const CONTEXTIONARY_PORT = 9999;

/** Below the data folder, where `MODULE_CACHE_PATH` is not set. */
export const CONTEXTIONARY_CACHE = "modules";

/** All that `shoal contextionary` reads. */
export type ContextionaryConfiguration = Pick<
  Configuration,
  | ("dataPath" | "metricsPort" | "metricsHost" | "allowedHosts" | "moduleCachePath" | "internalHost" | "internalPort")
  | ("internalTls" | "internalTlsCaFile" | "internalTlsCertFile" | "internalTlsKeyFile")
  // What every process of ours reads before its service starts.
  | ("logLevel" | "logFormat" | "debug" | "configurationName")
>;

/** Defaults that are others for it, by variable. */
export const CONTEXTIONARY_DEFAULTS: ReadonlyMap<string, string> = new Map([
  [PLAIN_SETTINGS.internalPort.variable, String(CONTEXTIONARY_PORT)],
  [PLAIN_SETTINGS.moduleCachePath.variable, `${CONTEXTIONARY_CACHE} below ${PLAIN_SETTINGS.dataPath.variable}`],
]);
