import { describe, expect, it } from "vitest";
import {
  filesBelow,
  isNode,
  type Package,
  packageOf,
  readPackages,
  readText,
  type SourceFile,
  type SyntaxNode,
} from "./source-tree.js";

/** What a manifest declares although no source of its package imports it, and why. */
const NEEDED_ALL_THE_SAME: readonly {
  readonly folder: string;
  readonly dependency: string;
  readonly reason: string;
}[] = [
  { folder: "e2e", dependency: "graphql", reason: "a peer that weaviate-ts-client asks for through graphql-request" },
];

/** What is bundled when it is built, so that nothing of it is installed where it runs. */
const BUNDLED: readonly string[] = ["packages/console"];

const packages = readPackages();

describe("manifests", () => {
  it("pin every version exactly, one version a dependency", () => {
    const manifests = ["package.json", ...packages.map((one) => `${one.folder}/package.json`)];
    const seen = new Map<string, string>();
    const wrong = manifests.flatMap((path) => {
      const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(readText(path));
      const all = Object.entries<string>({
        ...dependencies,
        ...devDependencies,
        ...optionalDependencies,
        ...peerDependencies,
      });
      return all.flatMap(([name, version]) => {
        const first = seen.get(name) ?? version;
        seen.set(name, first);
        const pinned = version === "workspace:*" || /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version);
        return pinned && first === version ? [] : [`${path}: ${name} ${version} (elsewhere ${first})`];
      });
    });
    expect(wrong).toEqual([]);
    expect(JSON.parse(readText("package.json")).packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+$/);
  });

  it("declare what the sources import, and tsconfig refers to each package of ours among it", () => {
    const shared = Object.keys(JSON.parse(readText("package.json")).devDependencies);
    const wrong = packages.flatMap((one) => {
      const runtime = Object.keys(one.manifest.dependencies ?? {});
      // Helpers of tests enter their own package by its name, as tests of others do.
      const all = [...runtime, ...Object.keys(one.manifest.devDependencies ?? {}), ...shared, one.manifest.name];
      return one.files.flatMap((file) =>
        file.imports.flatMap((request) => {
          if (/^(node:|\.)/.test(request)) return [];
          const name = request
            .split("/")
            .slice(0, request.startsWith("@") ? 2 : 1)
            .join("/");
          const isCode = !file.isTest && file.path.startsWith(`${one.folder}/src/`) && !BUNDLED.includes(one.folder);
          if (!(isCode ? runtime : all).includes(name) && !isTypesOnly(file, request)) {
            return [`${file.path} imports ${name}, which ${one.folder}/package.json does not declare`];
          }
          const ours = packageOf(request);
          if (!isCompiled(one, file.path) || ours === undefined || references(one).includes(ours)) return [];
          return [`${one.folder}/tsconfig.json does not refer to ${ours}`];
        }),
      );
    });
    expect([...new Set(wrong)]).toEqual([]);
  });

  it("declare nothing that is not imported: what runs by code, the rest by tests or build scripts", () => {
    const wrong = packages.flatMap((one) => {
      const { dependencies = {}, devDependencies = {} } = one.manifest;
      const code = textOf(one, (path) => path.startsWith(`${one.folder}/src/`) && !isTest(one, path));
      const everything = textOf(one, () => true);
      const declared = [...Object.keys(dependencies), ...Object.keys(devDependencies)];
      const isUsed = (name: string): boolean => {
        if (NEEDED_ALL_THE_SAME.some(({ folder, dependency }) => folder === one.folder && dependency === name))
          return true;
        const typed = /^@types\/(.+)$/.exec(name)?.[1];
        if (typed !== undefined) return declared.includes(typed);
        return names(name in dependencies ? code : everything, name);
      };
      return declared.filter((name) => !isUsed(name)).map((name) => `${one.folder}/package.json declares ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it("tsconfig refers only to packages of ours that a file it compiles imports", () => {
    const wrong = packages.flatMap((one) =>
      references(one)
        .filter(
          (name) =>
            !names(
              textOf(one, (path) => isCompiled(one, path)),
              `@shoal/${name}`,
            ),
        )
        .map((name) => `${one.folder}/tsconfig.json refers to ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it("exceptions are declared, and really not imported", () => {
    for (const { folder, dependency } of NEEDED_ALL_THE_SAME) {
      const one = packages.find((other) => other.folder === folder);
      const { dependencies = {}, devDependencies = {} } = one?.manifest ?? {};
      expect(Object.keys({ ...dependencies, ...devDependencies })).toContain(dependency);
      expect(one?.files.some((file) => file.imports.includes(dependency))).toBe(false);
    }
  });

  it("the release makes an image of each target of the Dockerfile", () => {
    const targets = [...readText("deploy/docker/Dockerfile").matchAll(/^FROM run AS (\S+)$/gm)].map(([, name]) => name);
    const [, released = ""] = /^ {8}target: \[(.+)\]$/m.exec(readText(".github/workflows/release.yml")) ?? [];
    expect(released.split(", ").sort()).toEqual(targets.sort());
    expect(targets.length).toBeGreaterThan(1);
  });
});

/** The packages that the package's tsconfig refers to. */
function references(one: Package): readonly string[] {
  const { references = [] }: { references?: { path: string }[] } = JSON.parse(readText(`${one.folder}/tsconfig.json`));
  return references.map(({ path }) => path.split("/").at(-1) ?? "");
}

/** Whether a text names a package or a file in it as a module does: in quotes. */
function names(text: string, name: string): boolean {
  return text.includes(`"${name}"`) || text.includes(`"${name}/`);
}

/** Whether tsc compiles the file, to which what tests share may belong. */
function isCompiled(one: Package, path: string): boolean {
  const { include, exclude }: Record<string, readonly string[]> = JSON.parse(readText(`${one.folder}/tsconfig.json`));
  const isIn = (globs: readonly string[] = []): boolean =>
    globs.some((glob) => patternOf(`${one.folder}/${glob}`).test(path));
  return isIn(include) && !isIn(exclude);
}

/** What a glob of a tsconfig matches: files, or folders with all that is in them. */
function patternOf(glob: string): RegExp {
  const parts = glob.split("**/").map((part) => part.replaceAll(".", "\\.").replaceAll("*", "[^/]*"));
  return new RegExp(`^${parts.join("(.+/)?")}(/|$)`);
}

function isTest(one: Package, path: string): boolean {
  return one.files.some((file) => file.path === path && file.isTest);
}

/** The sources and build scripts of a package that `wanted` takes, one after the other. */
function textOf(one: Package, wanted: (path: string) => boolean): string {
  const inner = packages.filter((other) => other.folder.startsWith(`${one.folder}/`));
  return filesBelow(one.folder)
    .filter((path) => /\.(tsx?|mjs)$/.test(path) && !inner.some((other) => path.startsWith(`${other.folder}/`)))
    .filter(wanted)
    .map(readText)
    .join("\n");
}

/** Whether every import of `request` in the file is a type import: it needs no dependency at run time. */
function isTypesOnly(file: SourceFile, request: string): boolean {
  const body = file.program.body as readonly SyntaxNode[];
  return body
    .filter((node) => isNode(node.source) && node.source.value === request)
    .every((node) => node.importKind === "type" || node.exportKind === "type");
}
