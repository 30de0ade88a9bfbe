import { type ClassRights, SPEC_PROFILE } from "@shoal/model";
import { NO_ENABLED_MODULES } from "@shoal/module-api";
import { expect, it } from "vitest";
import { ResponseBudget } from "../response-budget.js";
import { RowGate } from "../row-gate.js";
import { type Generation, SeenGenerations } from "./generations.js";
import { DEFAULT_GRAPHQL_LIMITS } from "./limits.js";
import { GraphQlStatistics } from "./plan/plan-execution.js";
import { LibraryQuery, LibraryView, libraryClass, property } from "./testing/library.js";

const CLASSES = 8;

/** Whether the schema of who sees the first two classes is kept while others see all other pairs. */
async function isKept(properties: number): Promise<boolean> {
  const limits = DEFAULT_GRAPHQL_LIMITS;
  const seen = new SeenGenerations({
    ...{ query: new LibraryQuery(), wire: SPEC_PROFILE, modules: NO_ENABLED_MODULES, limits },
    ...{ responses: new ResponseBudget(limits), rowGate: new RowGate(limits.graphqlRowsMax), onFault: () => {} },
    statistics: new GraphQlStatistics(),
  });
  const { snapshot } = new LibraryView(
    Array.from({ length: CLASSES }, (_, at) =>
      libraryClass(
        `C${at}`,
        Array.from({ length: properties }, (_, i) => property(`p${i}`, "text")),
      ),
    ),
  );
  const of = async (...classes: readonly number[]): Promise<Generation> => {
    const rights = { mayRead: (name: string) => classes.some((at) => name === `C${at}`) } as ClassRights;
    for (;;) {
      const generation = seen.of(snapshot, rights);
      if (!(generation instanceof Promise)) return generation;
      await generation;
    }
  };
  const first = await of(0, 1);
  for (let a = 0; a < CLASSES; a++) {
    for (let b = a + 1; b < CLASSES; b++) if (b > 1) await of(a, b);
  }
  return (await of(0, 1)) === first;
}

it("schemas of users with few rights are kept, and fewer when their classes are wide", async () => {
  expect(await isKept(5)).toBe(true);
  expect(await isKept(500)).toBe(false);
});
