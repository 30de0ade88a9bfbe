import { type Configuration, PLAIN_SETTINGS, SETTING_GROUPS, type SettingGroup } from "@shoal/service-runtime";

/** That of the published containers. */
export const CONTEXTIONARY_PORT = 9999;

/** Below the data folder, where `MODULE_CACHE_PATH` is not set. */
export const CONTEXTIONARY_CACHE = "modules";

const READ = [
  ...["dataPath", "metricsPort", "metricsHost", "allowedHosts", "moduleCachePath", "internalHost", "internalPort"],
  ...["internalTls", "internalTlsCaFile", "internalTlsCertFile", "internalTlsKeyFile"],
  // What every process of ours reads before its service starts.
  ...["logLevel", "logFormat", "debug", "configurationName"],
] as const satisfies readonly (keyof typeof PLAIN_SETTINGS)[];

/** All that `shoal contextionary` reads. */
export type ContextionaryConfiguration = Pick<Configuration, (typeof READ)[number]>;

/** Defaults that are others for it. */
const DEFAULTS: ReadonlyMap<string, string> = new Map([
  [PLAIN_SETTINGS.internalPort.variable, String(CONTEXTIONARY_PORT)],
  [PLAIN_SETTINGS.moduleCachePath.variable, `${CONTEXTIONARY_CACHE} below ${PLAIN_SETTINGS.dataPath.variable}`],
]);

/** For its `--help`. */
export function contextionarySettings(): readonly SettingGroup[] {
  const read: ReadonlySet<string> = new Set(READ.map((name) => PLAIN_SETTINGS[name].variable));
  return SETTING_GROUPS.map(({ title, settings }) => ({
    title,
    settings: settings
      .filter(({ variable }) => read.has(variable))
      .map((setting) => {
        const fallbackText = DEFAULTS.get(setting.variable);
        return fallbackText === undefined ? setting : { ...setting, fallbackText };
      }),
  })).filter(({ settings }) => settings.length > 0);
}
