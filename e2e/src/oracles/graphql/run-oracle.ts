import { seededRandom } from "@shoal/seeded-random";
import { ask, describeFinding, describeSchema, smallest } from "./ask-question.js";
import { WorldChanges } from "./change-world.js";
import { makeQuestion, type QuestionKind } from "./make-question.js";
import { createClasses, deleteClasses, makeWorld } from "./make-world.js";
import type { OracleServer } from "./oracle-server.js";

export interface OracleRun {
  readonly seed: number;
  readonly queries: number;
  readonly kinds: readonly QuestionKind[];
  /** The run ends after so many wrong answers. */
  readonly findingsMax: number;
  /** Of a server with these settings. */
  readonly start: (env: Readonly<Record<string, string>>) => Promise<OracleServer>;
  readonly say: (line: string) => void;
}

export interface OracleReport {
  /** Questions that were decided, by kind. */
  readonly asked: ReadonlyMap<QuestionKind, number>;
  readonly undecided: number;
  readonly worlds: number;
  /** Each with all that is needed to see what is wrong. */
  readonly findings: readonly string[];
}

const QUERIES_A_WORLD = 500;
const OBJECTS = 90;
const CHANGES = 60;

/** Asks a server of its own random questions about random worlds, while it is changed, restarted and killed. */
export async function runOracle({ seed, queries, kinds, findingsMax, start, say }: OracleRun): Promise<OracleReport> {
  const profile = seed % 2 === 0 ? "spec" : "weaviate";
  await using server = await start({ WIRE_PROFILE: profile });
  const asked = new Map<QuestionKind, number>();
  const findings: string[] = [];
  let undecided = 0;
  let worlds = 0;
  for (let left = queries; left > 0 && findings.length < findingsMax; left -= QUERIES_A_WORLD) {
    const chance = seededRandom(seed + worlds++);
    const world = makeWorld(chance, profile === "spec" ? "svc" : "weaviate");
    await createClasses(server.http, world);
    const changes = new WorldChanges(server.http, world, chance);
    const phases: readonly (readonly [string, () => Promise<void>])[] = [
      ["filled", () => changes.create(OBJECTS)],
      ["changed", () => changes.change(CHANGES)],
      ["restarted", () => server.restart()],
      ["filled and changed again", () => changes.create(OBJECTS).then(() => changes.change(CHANGES))],
      ["killed", () => server.crash()],
    ];
    const perPhase = Math.ceil(Math.min(left, QUERIES_A_WORLD) / phases.length);
    for (const [name, step] of phases) {
      await step();
      for (let count = 0; count < perPhase && findings.length < findingsMax; count++) {
        const kind = chance.pick(kinds);
        const found = await ask(server.http, world, makeQuestion(kind, world, chance));
        if (found === "undecided") undecided++;
        else asked.set(kind, (asked.get(kind) ?? 0) + 1);
        if (found === undefined || found === "undecided") continue;
        const least = await smallest(server.http, world, found);
        findings.push(
          `seed ${seed}, world ${worlds}, ${name}, ${kind}:\n${describeFinding(world, least)}\n${describeSchema(world)}`,
        );
        say(findings.at(-1) ?? "");
      }
    }
    await deleteClasses(server.http, world);
  }
  return { asked, undecided, worlds, findings };
}
