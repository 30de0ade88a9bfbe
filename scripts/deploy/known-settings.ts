import { environmentSource, readConfiguration, SETTINGS, type ServiceCommand } from "@shoal/service-runtime";

const KNOWN = new Set(SETTINGS.map((setting) => setting.variable));

/** What containers set for others than our settings: Kubernetes' own, Node's. */
const OTHERS = new Set(["POD_NAME", "NODE_ENV"]);

/**
 * What is wrong with the variables of a process, as its start would say: names that are no settings, values that are
 * refused, values that are probably not meant, and what `command` does not read.
 */
export function problemsOfSettings(
  command: ServiceCommand,
  environment: Readonly<Record<string, string>>,
): readonly string[] {
  const unknown = Object.keys(environment).filter((name) => !KNOWN.has(name) && !OTHERS.has(name));
  const problems = unknown.map((name) => `${name} is no setting`);
  try {
    readConfiguration([environmentSource(environment)], (warning) => problems.push(warning), undefined, command);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}
