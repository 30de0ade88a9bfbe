import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ShoalError } from "@shoal/model";
import { parse } from "yaml";

/** A package of others that runs in production. */
export interface ThirdPartyPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX, as its manifest says. */
  readonly license: string;
  /** What its licence file says of whose it is. */
  readonly copyright: readonly string[];
  /** Of the archive in the registry, `sha512-<base64>`. */
  readonly integrity: string;
  readonly homepage: string | undefined;
}

interface Linked {
  readonly version: string;
}

interface Lockfile {
  readonly importers: Readonly<
    Record<
      string,
      { readonly dependencies?: Record<string, Linked>; readonly optionalDependencies?: Record<string, Linked> }
    >
  >;
  readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity?: string } }>>;
  readonly snapshots: Readonly<
    Record<
      string,
      { readonly dependencies?: Record<string, string>; readonly optionalDependencies?: Record<string, string> }
    >
  >;
}

/** What `shoal` is started from. */
const ENTRANCE = "packages/cli";
const LINES_MAX = 5;

/**
 * All packages of others that the shoal command can load, by name: what an image holds. `root`: of the repository, with its
 * packages installed. Fails with `invalid` on one of which the licence is not known.
 */
export function productionPackages(root: string): readonly ThirdPartyPackage[] {
  const lockfile = parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8")) as Lockfile;
  const store = join(root, "node_modules", ".pnpm");
  const folders = readdirSync(store);
  const found = [...closureOf(lockfile)].map((key) => {
    const [, name = "", version = ""] = /^(@?[^@]+)@([^(]+)/.exec(key) ?? [];
    return { name, version, integrity: lockfile.packages[`${name}@${version}`]?.resolution.integrity ?? "" };
  });
  const unique = new Map(found.map((one) => [`${one.name}@${one.version}`, one]));
  return [...unique.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, one]) => {
      const prefix = key.replaceAll("/", "+");
      const folder = folders.find((name) => name === prefix || name.startsWith(`${prefix}_`));
      // What is for other machines is not installed on this one, and in no image of it.
      if (folder === undefined) return [];
      return [{ ...one, ...describe(join(store, folder, "node_modules", one.name), key) }];
    });
}

/** Keys of snapshots that can be reached from the command. */
function closureOf({ importers, snapshots }: Lockfile): ReadonlySet<string> {
  const reached = new Set<string>();
  const importersSeen = new Set<string>();
  const visit = (name: string, version: string): void => {
    const key = version.includes("@") && version in snapshots ? version : `${name}@${version}`;
    const snapshot = snapshots[key];
    if (snapshot === undefined || reached.has(key)) return;
    reached.add(key);
    const all = { ...snapshot.dependencies, ...snapshot.optionalDependencies };
    for (const [other, otherVersion] of Object.entries(all)) visit(other, otherVersion);
  };
  const enter = (folder: string): void => {
    if (importersSeen.has(folder)) return;
    importersSeen.add(folder);
    const importer = importers[folder];
    const all = { ...importer?.dependencies, ...importer?.optionalDependencies };
    for (const [name, { version }] of Object.entries(all)) {
      if (version.startsWith("link:")) enter(posix.normalize(posix.join(folder, version.slice("link:".length))));
      else visit(name, version);
    }
  };
  enter(ENTRANCE);
  return reached;
}

function describe(folder: string, key: string) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly license?: string | { readonly type?: string };
    readonly licenses?: readonly { readonly type?: string }[];
    readonly homepage?: string;
  };
  const { license, licenses = [] } = manifest;
  const named =
    typeof license === "string" ? license : (license?.type ?? licenses.map(({ type }) => type).join(" OR "));
  if (named === "") throw new ShoalError("invalid", `${key} does not name its licence`);
  return { license: named, copyright: copyrightIn(folder), homepage: manifest.homepage };
}

function copyrightIn(folder: string): readonly string[] {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)(\.|-|$)/i.test(name));
  if (file === undefined) return [];
  const lines = readFileSync(join(folder, file), "utf8").split(/\r?\n/);
  const said = lines
    .map((line) => line.replace(/^[\s/*#>-]+/, "").trim())
    .filter((line) => /^(copyright|\(c\)|©)\s.*\d{4}|^copyright \(c\) /i.test(line));
  // The text of the Apache licence has a place for a year in brackets.
  return [...new Set(said)].filter((line) => !line.includes("[yyyy]") && !line.includes("{yyyy}")).slice(0, LINES_MAX);
}
