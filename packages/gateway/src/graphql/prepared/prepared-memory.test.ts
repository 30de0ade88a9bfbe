import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ExploreQuery, GetQuery } from "@shoal/model";
import { expect, it } from "vitest";
import { library } from "../testing/ask-library.js";
import { LiteralBindings } from "./bind-literals.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const TEXTS = [
  "{Get{Book(limit:2,nearVector:{vector:[0.5,1]}){...f place{latitude} _additional{id classification{id}}}}} fragment f on Book{title}",
  '{Get{Book(where:{operator:Equal,path:["isbn"],valueString:"x"}){title writtenBy{... on Author{name}}}}}',
  '{Aggregate{Book(groupBy:["isbn"]){meta{count} groupedBy{value} title{type t:topOccurrences(limit:2){value}}}}}',
  "{Explore(nearVector:{vector:[0.5,1]}){beacon certainty}}",
];

it("of the request that was prepared neither text nor values are kept", async () => {
  const documents: WeakRef<object>[] = [];
  const { of } = LiteralBindings;
  LiteralBindings.of = (lifter, document, ...rest) => {
    documents.push(new WeakRef(document));
    return of(lifter, document, ...rest);
  };
  const { ask, query } = library();
  try {
    for (const text of TEXTS) expect((await ask(text)).errors).toBeNull();
    // Still there: nothing is prepared again.
    for (const text of TEXTS) expect((await ask(text.replaceAll("0.5", "0.25"))).errors).toBeNull();
  } finally {
    LiteralBindings.of = of;
  }
  const vectors = query.asked.flatMap((asked) => {
    const { nearVector } = asked as GetQuery | ExploreQuery;
    return nearVector === undefined ? [] : new WeakRef(nearVector.vector);
  });
  query.asked.length = 0;
  expect([documents.length, vectors.length]).toEqual([TEXTS.length, 4]);
  const kept = () => [...documents, ...vectors].filter((each) => each.deref() !== undefined);
  // Code that is being compiled in another thread may hold some of them for a moment.
  for (let round = 0; round < 100 && kept().length > 0; round++) {
    await setTimeout(10);
    collectGarbage();
  }
  expect(kept()).toEqual([]);
});
