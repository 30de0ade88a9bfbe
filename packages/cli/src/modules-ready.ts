import type { EnabledModules } from "@shoal/module-api";

/** Resolves when the back ends of all modules answer, or when the process is told to stop before: whether they do. */
export async function modulesReady(modules: EnabledModules, stopping: AbortSignal): Promise<boolean> {
  try {
    await modules.awaitReady({ deadline: Number.POSITIVE_INFINITY, signal: stopping });
  } catch (thrown) {
    if (!stopping.aborted) throw thrown;
  }
  return !stopping.aborted;
}
