import { environmentSource, readConfiguration, SETTINGS } from "@shoal/service-runtime";

const KNOWN = new Set(SETTINGS.map((setting) => setting.variable));

/** What containers set for others than our settings: Kubernetes' own, Node's. */
const OTHERS = new Set(["POD_NAME", "NODE_ENV"]);

/**
 * What is wrong with the variables of a process, as its start would say: names that are no settings, values that are
 * refused, values that are probably not meant.
 */
export function problemsOfSettings(environment: Readonly<Record<string, string>>): readonly string[] {
  const unknown = Object.keys(environment).filter((name) => !KNOWN.has(name) && !OTHERS.has(name));
  const problems = unknown.map((name) => `${name} is no setting`);
  try {
    readConfiguration([environmentSource(environment)], (warning) => problems.push(warning));
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}
