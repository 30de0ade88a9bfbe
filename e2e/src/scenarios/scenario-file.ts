import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseDocument } from "yaml";
import { z } from "zod";
import { checkMatchers } from "./match-answer.js";

/** The folder with one folder an endpoint. */
export const SCENARIO_FOLDER = fileURLToPath(new URL("../../scenarios", import.meta.url));
export const PROFILES = ["spec", "weaviate"] as const;
export type Profile = (typeof PROFILES)[number];

const profiles = z.array(z.enum(PROFILES)).min(1);
const rows = z.array(z.string());
/** What the runner sets itself. */
const OWN_VARIABLES = ["n", "sentMs", "uuid", "url", "hostname", "scheme", "profile", "nodes", "virtualShards"];
const variable = z
  .string()
  .regex(/^\w+$/, "is a variable: letters, digits and _")
  .refine((name) => !OWN_VARIABLES.includes(name), `is none of ${OWN_VARIABLES.join(", ")}, which the runner sets`);
const variables = z.record(variable, z.unknown());
const status = z.union([z.int().min(100).max(599), z.string().regex(/^\$\{\w+\}$/, "is a number or one variable")]);

/** 404 of what the path names, as the profile has it: under `spec` with the error body, under `weaviate` without a body. */
const notThere = z.literal("not-there");

const expectation = z.strictObject({
  status,
  /** Name to text or matcher. */
  headers: z.record(z.string(), z.string()).optional(),
  /** JSON or matchers. */
  body: z.unknown().optional(),
  /** The body as it came, "" for none. */
  text: z.string().optional(),
  /** The message of an error body. */
  error: z.string().optional(),
});

const request = z.strictObject({
  send: z
    .string()
    .regex(/^(\$\{\w+\}|([A-Z]+|\$\{\w+\}) (\/|\$\{)\S*)$/, "is a verb, one blank and a path, as in `GET /v1/meta`"),
  /** null takes a header away that is sent by default (Content-Type with a body). */
  headers: z.record(z.string(), z.string().nullable()).optional(),
  /** Sent as JSON. */
  body: z.unknown().optional(),
  /** Sent as it is. */
  text: z.string().optional(),
  /** Compresses the body and says so. */
  gzip: z.boolean().optional(),
  /** How many times, one after the other; `${n}` counts from 0. */
  times: z.int().min(1).optional(),
  /** All of `times` together. */
  "at-once": z.boolean().optional(),
  /** Sent again until the answer is as expected, for half a minute at most. */
  eventually: z.boolean().optional(),
  /** Variable to path in the JSON answer, such as `0.result.id`, or `header content-type`, or `text`. */
  capture: z.record(variable, z.string()).optional(),
  /** A status, or more, or what is not there; without it any 2xx will do. */
  expect: z.union([notThere, status, expectation]).optional(),
});

const pause = z.strictObject({ "wait-ms": z.int().min(1).max(5_000) });
const step = z.union([request, pause]);

const scenario = z.strictObject({
  name: z.string().min(1),
  rows: rows.optional(),
  profiles: profiles.optional(),
  /** Variables; with a list of them the scenario runs once for each. */
  vars: variables.optional(),
  cases: z.array(variables).min(1).optional(),
  /** What a cluster does not do. */
  "one-process": z.literal(true).optional(),
  steps: z.array(step).min(1),
});

const scenarioFile = z.strictObject({
  about: z.string().min(1),
  rows: rows.optional(),
  profiles: profiles.optional(),
  /** Environment variables of the server; files with the same ones share it. */
  settings: z.record(z.string(), z.coerce.string()).optional(),
  /** A server nobody else uses, before or after. */
  "own-server": z.boolean().optional(),
  /** Of every request, those that clean up included. */
  headers: z.record(z.string(), z.string()).optional(),
  vars: variables.optional(),
  /** Empties the schema and repeats the set-up before each scenario, not only before the first one. */
  isolated: z.boolean().optional(),
  "set-up": z.array(step).optional(),
  scenarios: z.array(scenario).min(1),
});

export type Expectation = z.infer<typeof expectation>;
export type RequestStep = z.infer<typeof request>;
export type Step = z.infer<typeof step>;
export type Scenario = z.infer<typeof scenario>;
export interface ScenarioFile extends z.infer<typeof scenarioFile> {
  /** Relative to the folder of scenarios, as in `objects/put.yaml`. */
  readonly path: string;
}

/** The paths of all scenario files, relative to their folder. */
export function scenarioPaths(): readonly string[] {
  return readdirSync(SCENARIO_FOLDER, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".yaml") && path.includes("/"))
    .sort();
}

export function readScenarioFile(path: string, profile: Profile): ScenarioFile {
  return parseScenarioFile(readFileSync(join(SCENARIO_FOLDER, path), "utf8"), path, profile);
}

/** A file as one profile sees it; the error names every mistake with its place. */
export function parseScenarioFile(text: string, path: string, profile: Profile): ScenarioFile {
  const document = parseDocument(text, { prettyErrors: true });
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw new Error(`${path}: ${mistake.message}`);
  const parsed = scenarioFile.safeParse(chooseProfile(document.toJS(), profile));
  if (!parsed.success) {
    const issues = parsed.error.issues.flatMap((issue) => (issue.code === "invalid_union" ? best(issue) : [issue]));
    throw new Error(issues.map((issue) => `${path}: ${issue.path.join(".")}: ${issue.message}`).join("\n"));
  }
  const file = { ...parsed.data, path };
  for (const one of file.scenarios) {
    for (const each of [...(file["set-up"] ?? []), ...one.steps]) checkStep(each, `${path}: ${one.name}`);
  }
  return file;
}

/** Of a union's alternatives the one that was meant: that with the fewest complaints. */
function best(issue: z.core.$ZodIssueInvalidUnion): readonly { path: PropertyKey[]; message: string }[] {
  const alternatives = issue.errors.map((errors) =>
    errors.flatMap((one) => (one.code === "invalid_union" ? best(one) : [one])),
  );
  const [first = []] = alternatives.sort(
    (a, b) => Number(isOtherKind(a)) - Number(isOtherKind(b)) || a.length - b.length,
  );
  return first.map((one) => ({ path: [...issue.path, ...one.path], message: one.message }));
}

/** Whether an alternative failed because the value is of another kind altogether: zod has no code for a member that is missing. */
function isOtherKind(errors: readonly { path: PropertyKey[]; message: string }[]): boolean {
  return errors.some((one) => one.path.length === 0 || one.message.includes("received undefined"));
}

function checkStep(one: Step, place: string): void {
  if (!("send" in one)) return;
  if (one.body !== undefined && one.text !== undefined)
    throw new Error(`${place}: ${one.send}: body or text, not both`);
  if (one.expect === undefined || typeof one.expect !== "object") return;
  const { body, text, error, headers } = one.expect;
  if (error !== undefined && (body !== undefined || text !== undefined)) {
    throw new Error(`${place}: ${one.send}: error says what the body is, leave out body and text`);
  }
  for (const each of [body, text, error, headers]) checkMatchers(each, `${place}: ${one.send}`);
}

/** Takes `{spec: …, weaviate: …}`, wherever it stands, for the value of the profile. */
function chooseProfile(value: unknown, profile: Profile): unknown {
  if (Array.isArray(value)) return value.map((one) => chooseProfile(one, profile));
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value);
  if (keys.length === PROFILES.length && PROFILES.every((one) => keys.includes(one))) {
    return chooseProfile((value as Record<Profile, unknown>)[profile], profile);
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, chooseProfile(one, profile)]));
}
