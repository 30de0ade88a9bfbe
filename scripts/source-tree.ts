import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";

/** The root of the repository. */
export const root = dirname(import.meta.dirname);

/** A node of the syntax tree, as far as the rules look at it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Tests, benchmarks, suites that an interface ships, and what only these use (fixtures, folders called `testing`). */
  readonly isTest: boolean;
  /** Everything that is imported or re-exported, types included, as written. */
  readonly imports: readonly string[];
  readonly program: SyntaxNode;
}

export interface Package {
  /** Folder relative to the root. */
  readonly folder: string;
  /** `model` for `@shoal/model`. */
  readonly name: string;
  readonly manifest: Manifest;
  readonly files: readonly SourceFile[];
}

export interface Manifest {
  readonly name: string;
  /** Doors by their name, `.` and `./name`. */
  readonly exports?: Readonly<Record<string, { readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "build", ".git", ".cache", "data"]);

/** Paths of all files below `folder` (relative to the root) that are ours, relative to the root. */
export function filesBelow(folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** All packages of the workspace, parsed. */
export function readPackages(): readonly Package[] {
  const manifests = ["packages", "scripts", "e2e"]
    .flatMap(filesBelow)
    .filter((path) => path.endsWith("/package.json"))
    .sort();
  const folders = manifests.map((path) => dirname(path));
  return folders.map((folder) => {
    const manifest = JSON.parse(readText(`${folder}/package.json`)) as Manifest;
    const inner = folders.filter((other) => other.startsWith(`${folder}/`));
    const files = filesBelow(folder)
      .filter((path) => /\.tsx?$/.test(path) && !inner.some((other) => path.startsWith(`${other}/`)))
      .map(readSource);
    return { folder, name: manifest.name.replace("@shoal/", ""), manifest, files };
  });
}

function readSource(path: string): SourceFile {
  const text = readText(path);
  const { module, program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const imports = [
    ...module.staticImports.map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) => one.entries.map((entry) => entry.moduleRequest?.value ?? "")),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) =>
      text[start] === '"' ? [text.slice(start + 1, end - 1)] : [],
    ),
  ];
  return {
    path,
    text,
    isTest: /(\.test|\.bench|\.fixture|-suite)\.ts$|\/src\/(.+\/)?testing\//.test(path),
    imports: [...new Set(imports.filter((one) => one !== ""))],
    program: program as unknown as SyntaxNode,
  };
}

/** Every node of the tree, parents first. */
export function* nodes(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield* nodes(child);
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

export function place(file: SourceFile, node: SyntaxNode): string {
  return `${file.path}:${file.text.slice(0, node.start).split("\n").length}`;
}

/** The file that a relative import means, relative to the root; undefined when it leaves the package or is not there. */
export function resolveRelative(file: SourceFile, request: string): string | undefined {
  const target = relative(root, join(root, dirname(file.path), request)).replace(/\.js$/, ".ts");
  return [target, `${target}x`].find((path) => existsSync(join(root, path)));
}

/** One cycle of the graph as a list of names that ends where it began, or undefined. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (name: string): readonly string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    path.push(name);
    for (const next of graph.get(name) ?? []) {
      const cycle = visit(next);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const cycle = visit(name);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Everything that can be reached from `start`, with itself. */
export function reach(graph: ReadonlyMap<string, readonly string[]>, start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const next of graph.get(name) ?? []) visit(next);
  };
  visit(start);
  return found;
}

/** The package of ours that `request` names. */
export function packageOf(request: string): string | undefined {
  return /^@shoal\/([a-z0-9-]+)/.exec(request)?.[1];
}
