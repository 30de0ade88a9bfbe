import { REGISTERED_MODULES } from "@shoal/gateway";
import { chooseModules, createModules, type EnabledModules, type ExtensionStore } from "@shoal/module-api";
import type { TlsSource } from "@shoal/rpc";
import type { ResourceScope } from "@shoal/service-runtime";
import { storageFault } from "./module-storage-route.js";
import type { ProcessOptions } from "./process-options.js";

/** Fails with `invalid` when the settings ask for a module that cannot be. Starts nothing. */
export function checkModules({ configuration, logger }: ProcessOptions): void {
  chooseModules(REGISTERED_MODULES, configuration, (message, fields) => logger.warn(fields, message));
  const fault = storageFault(configuration);
  if (fault !== undefined) logger.warn({}, fault);
}

/** The modules that the settings ask for. */
export async function openModules(
  { clock, configuration, logger }: ProcessOptions,
  extensions: ExtensionStore,
  tls: TlsSource | undefined,
  scope: ResourceScope,
): Promise<EnabledModules> {
  const chosen = chooseModules(REGISTERED_MODULES, configuration, () => {});
  return scope.use(
    await createModules(chosen, {
      settings: configuration,
      extensions,
      tls,
      nowMs: () => clock.now(),
      tell: (message, fields) => logger.info(fields, message),
    }),
  );
}

/** For the log: the modules that there are, and why there are no others. */
export function describeModules({ configuration }: ProcessOptions) {
  const chosen = chooseModules(REGISTERED_MODULES, configuration, () => {});
  const modules = chosen.map(({ name }) => name);
  const others = REGISTERED_MODULES.filter((module) => !chosen.includes(module));
  const reasonOf = ({ lacks, lacksBeside }: (typeof others)[number]): string =>
    lacks?.(configuration) ?? lacksBeside?.(modules) ?? "ENABLE_MODULES does not name it";
  return { modules, modulesNotOffered: Object.fromEntries(others.map((module) => [module.name, reasonOf(module)])) };
}

/** Resolves when the back ends of all modules answer, or when the process has to stop before: whether they do. */
export async function modulesReady(modules: EnabledModules, stopping: AbortSignal): Promise<boolean> {
  try {
    await modules.awaitReady({ deadline: Number.POSITIVE_INFINITY, signal: stopping });
  } catch (thrown) {
    if (!stopping.aborted) throw thrown;
  }
  return !stopping.aborted;
}
