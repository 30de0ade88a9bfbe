import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ClassDefinition } from "@shoal/model";
import { expect, it } from "vitest";
import { DEFAULT_GRAPHQL_LIMITS } from "../limits.js";
import { buildGraphQlSchema } from "../testing/build-schema.js";
import { libraryClass, property } from "../testing/library.js";
import type { BuiltClass } from "./build-schema.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const CLASSES = 6;
const CHANGES = 30;

/** A class of its own, as those that refer to it change with it. */
function definition(at: number): ClassDefinition {
  return libraryClass(`Kept${at}`, [property("name", "text"), property("next", `Kept${at}`)]);
}

it("of classes that change one after the other the former types are let go", async () => {
  const classes = Array.from({ length: CLASSES }, (_, at) => definition(at));
  const former: WeakRef<object>[] = [];
  let built: ReadonlyMap<string, BuiltClass> | undefined;
  for (let change = 0; change < CHANGES; change++) {
    const at = change % CLASSES;
    classes[at] = definition(at);
    built = buildGraphQlSchema(classes, DEFAULT_GRAPHQL_LIMITS, built).classes;
    // A new iteration: what is referred to weakly is kept until then.
    await setImmediate();
    const each = built.get(`Kept${at}`);
    if (each !== undefined && change < CHANGES - CLASSES) former.push(new WeakRef(each.type));
  }
  await setImmediate();
  collectGarbage();
  expect(built?.size).toBe(CLASSES);
  expect(former).toHaveLength(CHANGES - CLASSES);
  expect(former.filter((type) => type.deref() !== undefined)).toEqual([]);
});
