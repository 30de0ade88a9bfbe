import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../../source-tree.js";
import type { KubernetesObject } from "./kubernetes-object.js";

const require = createRequire(import.meta.url);

/** Packages with the kinds that are not Kubernetes' own, by what their API group ends in. */
const FOREIGN: Readonly<Record<string, string>> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
};

interface Model {
  validate(): void;
}

/** `apps/v1` is a path of the package, `networking.k8s.io/v1` and the foreign ones, too. */
function moduleOf({ apiVersion }: KubernetesObject): string {
  const [group = ""] = apiVersion.split("/");
  return `${FOREIGN[group] ?? "kubernetes-models"}/${apiVersion}`;
}

/** What the schema of its kind says against the object: types, patterns, required members. */
export async function validateObject(object: KubernetesObject): Promise<readonly string[]> {
  const kinds = require(moduleOf(object)) as Record<string, (new (data: unknown) => Model) | undefined>;
  const Kind = kinds[object.kind];
  if (Kind === undefined) return [`${object.apiVersion} has no such kind`];
  try {
    new Kind(object).validate();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

/**
 * Members that no schema knows, misspelled ones above all: schemas let them pass, the compiler does not. Each object
 * becomes a literal of its type.
 */
export function unknownFields(objects: readonly KubernetesObject[]): readonly string[] {
  const folder = mkdtempSync(join(root, "scripts", "deploy", "chart", ".fields-"));
  try {
    const kinds = new Map(objects.map((object) => [`${moduleOf(object)} ${object.kind}`, object]));
    const imports = [...kinds].map(
      ([key, object]) =>
        `import type { I${object.kind} as I${typeName(object)} } from ${JSON.stringify(key.split(" ")[0])};`,
    );
    const literals = objects.map((object) => `take<I${typeName(object)}>(${JSON.stringify(object)});`);
    const lines = ["declare function take<T>(value: T): void;", ...imports, ...literals];
    writeFileSync(join(folder, "objects.ts"), lines.join("\n"));
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const options = [
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--target",
      "es2022",
      "--types",
      "",
    ];
    const { stdout, status } = spawnSync(process.execPath, [compiler, ...options, join(folder, "objects.ts")], {
      cwd: folder,
      encoding: "utf8",
    });
    return status === 0 ? [] : stdout.trim().split("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function typeName({ apiVersion, kind }: KubernetesObject): string {
  return `${kind}_${apiVersion.replace(/\W/g, "_")}`;
}
