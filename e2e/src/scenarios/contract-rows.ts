import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { readScenarioFile, SCENARIO_FOLDER, type ScenarioFile, scenarioPaths } from "./scenario-file.js";

const row = z.union([z.string(), z.strictObject({ text: z.string(), waits: z.string() })]);
const rowFile = z.strictObject({ source: z.string(), tables: z.record(z.string(), z.record(z.string(), row)) });

/** One row of a table of the contract. */
export interface ContractRow {
  /** `<table>/<key>`. */
  readonly id: string;
  readonly table: string;
  readonly text: string;
  /** The feature that is not there yet; such a row has no scenario. */
  readonly waits?: string;
}

/** One scenario or test that says it covers a row. */
export interface Cover {
  readonly row: string;
  /** Relative to e2e. */
  readonly file: string;
  readonly name: string;
}

/** Every row of every table, in the order of the contract. */
export function readContractRows(): readonly ContractRow[] {
  const files = readdirSync(SCENARIO_FOLDER).filter((name) => /^rows-.*\.yaml$/.test(name));
  const order = ["specification", "decisions", "reference-rest", "reference-graphql"].map(
    (name) => `rows-${name}.yaml`,
  );
  return files
    .sort((a, b) => order.indexOf(a) - order.indexOf(b))
    .flatMap((name) => {
      const { tables } = rowFile.parse(parse(readFileSync(join(SCENARIO_FOLDER, name), "utf8")));
      return Object.entries(tables).flatMap(([table, rows]) =>
        Object.entries(rows).map(([key, value]) => ({
          id: `${table}/${key}`,
          table,
          ...(typeof value === "string" ? { text: value } : value),
        })),
      );
    });
}

/** What the scenario files and the tests of e2e say they cover. */
export function readCovers(): readonly Cover[] {
  return [...scenarioPaths().flatMap(coversOfFile), ...testPaths().flatMap(coversOfTest)];
}

function coversOfFile(path: string): readonly Cover[] {
  const file: ScenarioFile = readScenarioFile(path, "spec");
  return file.scenarios.flatMap(({ name, rows = [] }) =>
    [...new Set([...(file.rows ?? []), ...rows])].map((row) => ({ row, file: `scenarios/${path}`, name })),
  );
}

const E2E = join(SCENARIO_FOLDER, "..");

function testPaths(): readonly string[] {
  return ["src", "clients"].flatMap((folder) =>
    readdirSync(join(E2E, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => `${folder}/${path}`)
      .sort(),
  );
}

/** A test covers rows by the comment `// covers: <row>, <row>` in front of its `it` or `describe`. */
function coversOfTest(path: string): readonly Cover[] {
  const text = readFileSync(join(E2E, path), "utf8");
  return [...text.matchAll(/^ *\/\/ covers: (.+)\n([\s\S]*?"((?:[^"\\]|\\.)*)")/gm)].flatMap(
    ([, rows = "", , name = ""]) => rows.split(",").map((row) => ({ row: row.trim(), file: path, name })),
  );
}
