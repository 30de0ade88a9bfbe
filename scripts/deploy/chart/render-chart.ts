import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../../source-tree.js";
import type { KubernetesObject } from "./kubernetes-object.js";

export const CHART = join(root, "helm", "shoal");

/** Both are supported; `scripts/deploy/fetch-helm.mjs` puts them there. */
export const HELMS: readonly string[] = ["helm-3.17.3", "helm-4.1.4"].map((name) => join(root, ".cache", "helm", name));

/** The value sets that the chart is checked with, by name. */
export const VALUE_SETS: readonly string[] = readdirSync(join(CHART, "ci"))
  .filter((name) => name.endsWith("-values.yaml"))
  .map((name) => name.replace("-values.yaml", ""))
  .sort();

export const RELEASE = "rel";
export const NAMESPACE = "search";

/** What a command of Helm printed; `failure` is its error output when it ended badly. */
export interface HelmAnswer {
  readonly text: string;
  readonly failure: string | undefined;
}

export function runHelm(helm: string, ...args: readonly string[]): HelmAnswer {
  if (!existsSync(helm)) throw new Error(`${helm} is missing: node scripts/deploy/fetch-helm.mjs`);
  const { status, stdout, stderr } = spawnSync(helm, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return { text: stdout, failure: status === 0 ? undefined : `${stdout}${stderr}` };
}

export function valuesFile(set: string): string {
  return join(CHART, "ci", `${set}-values.yaml`);
}

/** `helm template` of a value set, with more arguments for Helm (`--set …`). */
export function templateChart(helm: string, set: string, ...more: readonly string[]): HelmAnswer {
  return templateRelease(helm, RELEASE, set, ...more);
}

export function templateRelease(helm: string, release: string, set: string, ...more: readonly string[]): HelmAnswer {
  return runHelm(helm, "template", release, CHART, "--namespace", NAMESPACE, "--values", valuesFile(set), ...more);
}

/** The objects of a rendering that must succeed. */
export function renderChart(helm: string, set: string, ...more: readonly string[]): readonly KubernetesObject[] {
  const { text, failure } = templateChart(helm, set, ...more);
  if (failure !== undefined) throw new Error(failure);
  return objectsOf(text);
}

export function objectsOf(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text, { version: "1.1", uniqueKeys: true }).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const value = document.toJS() as KubernetesObject | null;
    return value === null ? [] : [value];
  });
}

/** The rendering without what differs each time: the certificates and the secret that it made. */
export function withoutCertificates(text: string): string {
  return text.replace(/^( {2}(?:(?:ca|tls)\.(?:crt|key)|secret)): [A-Za-z0-9+/=]+$/gm, "$1: (made anew each time)");
}
