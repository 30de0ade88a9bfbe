import { objectIdFromBytes, SPEC_PROFILE, type StoredObject } from "@shoal/model";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { describe, expect, it } from "vitest";
import { GraphQlHandler } from "./handler.js";
import { CONTEXT, library } from "./testing/ask-library.js";
import { LIBRARY_CLASSES, LIBRARY_OBJECTS, LibraryQuery, LibraryView } from "./testing/library.js";

const KIB = 1024;
const PATHS: [string, boolean][] = [
  ["prepared", true],
  ["plain", false],
];

/** Books with vectors of 4 KiB. */
function bigLibrary(count: number): LibraryQuery {
  const [book] = LIBRARY_OBJECTS.Book ?? [];
  const vector = Float32Array.from({ length: KIB }, (_, i) => Math.sin(i));
  const objects = Array.from({ length: count }, (_, i) => {
    const id = objectIdFromBytes(Buffer.from(i.toString(16).padStart(32, "0"), "hex"), 0);
    return { ...book, id, vector } as StoredObject;
  });
  return new LibraryQuery({ Book: objects });
}

function aliases(count: number, field: string): string {
  return `{Get{${Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(" ")}}}`;
}

describe.each(PATHS)("a request whose answer would be too large (%s)", (_, prepareQueries) => {
  it("is refused before any query when its fields reach too many rows together", async () => {
    const { ask, query } = library({ prepareQueries, limits: { graphqlRowsMax: 1_000 } });
    const message = (rows: number) =>
      `the query reaches ${rows} rows (offset plus limit of all its fields), more than 1000 (GRAPHQL_ROWS_MAX)`;
    for (const [text, rows] of [
      [aliases(11, "Book(limit:91){title}"), 1001],
      [aliases(2, "Book(limit:1,offset:500){title}"), 1002],
      [aliases(11, "Book{title}"), 1100],
      [aliases(11, "Book(limit:-1){title}"), 1100],
      [aliases(11, 'Book(groupBy:"title",limit:-1){meta{count}}').replace("Get", "Aggregate"), 1100],
      ["{a:Get{Book(limit:600){title}} b:Get{Book(limit:600){title}}}", 1200],
      ["{Get{...F}} fragment F on GetObjectsObj{a:Book(limit:600){title} b:Book(limit:600){title}}", 1200],
    ] as const) {
      expect(await ask(text), text).toEqual({ errors: [{ locations: [], message: message(rows), path: null }] });
    }
    const variable = "query($n:Int){Get{a:Book(limit:$n){title} b:Book(limit:$n){title}}}";
    expect((await ask(variable, { n: 501 })).errors[0].message).toBe(message(1002));
    expect(query.asked).toEqual([]);
    expect((await ask(variable, { n: 500 })).errors ?? null).toBeNull();
    expect((await ask(aliases(10, "Book(limit:100){title}"))).errors ?? null).toBeNull();
  });

  it("leaves a field that reaches too many rows by itself to the query", async () => {
    const { ask, query } = library({ prepareQueries });
    await ask("{Get{Book(offset:9223372036854775807){title}}}");
    expect(query.asked).toHaveLength(1);
  });

  const tooLarge =
    "the answer, or the rows it is made of, take more than 1048576 bytes (ANSWER_BYTES_MAX): ask for fewer rows";

  it("ends with an error when its rows take too many bytes, others go on", async () => {
    const deps = { prepareQueries, query: bigLibrary(300), limits: { answerBytesMax: KIB * KIB } };
    const { ask } = library(deps);
    const response = await ask("{Get{Book(limit:300){_additional{vector}}}}");
    expect(response).toEqual({ errors: [{ locations: [], message: tooLarge, path: null }] });
    expect((await ask("{Get{Book(limit:50){_additional{vector}}}}")).data.Get.Book).toHaveLength(50);
  });

  it("ends with an error when its text takes too many bytes, others go on", async () => {
    const deps = { prepareQueries, query: bigLibrary(300), limits: { answerBytesMax: KIB * KIB } };
    const { ask } = library(deps);
    const response = await ask(aliases(5, "Book(limit:40){_additional{vector}}"));
    expect(response).toEqual({ errors: [{ locations: [], message: tooLarge, path: null }] });
    expect((await ask("{Get{Book(limit:1){_additional{vector}}}}")).data.Get.Book).toHaveLength(1);
  });

  it("is told to come again when answers take too much memory together, which is free again after them; not when it is alone", async () => {
    const limits = { answersBytesMax: 3 * KIB * KIB };
    const { ask } = library({ prepareQueries, query: bigLibrary(300), limits });
    const text = "{Get{Book(limit:260){title _additional{id vector}}}}";
    for (let i = 0; i < 3; i++) {
      expect((await ask(text)).errors).toMatchObject([
        {
          message: expect.stringMatching(
            /^the answer, .* than the 3145728 bytes of all answers \(ANSWERS_BYTES_MAX\): ask/,
          ),
        },
      ]);
    }
    const few = aliases(3, "Book(limit:20){_additional{vector}}");
    for (let i = 0; i < 5; i++) expect((await ask(few)).errors ?? null).toBeNull();
    const together = await Promise.allSettled(Array.from({ length: 6 }, () => ask(few)));
    const refusals = together.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals) expect(refusal).toContain("more than 3145728 bytes (ANSWERS_BYTES_MAX)");
    expect((await ask(few)).errors ?? null).toBeNull();
  });
});

it.each(PATHS)("an answer is written in steps (%s)", async (_, prepareQueries) => {
  const { ask } = library({ prepareQueries, query: bigLibrary(400) });
  await ask("{ __typename }");
  using counter = new LoopCounter();
  expect((await ask("{Get{Book(limit:400){_additional{vector}}}}")).data.Get.Book).toHaveLength(400);
  expect(counter.iterations).toBeGreaterThan(20);
});

it.each(PATHS)("S10: answers to one client and to others are written in turn (%s)", async (_, prepareQueries) => {
  const handler = new GraphQlHandler({
    ...{ schema: new LibraryView(LIBRARY_CLASSES), query: bigLibrary(200), wire: SPEC_PROFILE },
    ...{ prepareQueries, onFault: () => {} },
  });
  const body = Buffer.from('{"query":"{Get{Book(limit:200){_additional{vector}}}}"}');
  const order: string[] = [];
  const ask = async (owner: string) => {
    await handler.execute(body, { ...CONTEXT, share: { owner, connection: 1 } });
    order.push(owner);
  };
  await Promise.all([...Array.from({ length: 6 }, () => ask("many")), ask("one")]);
  expect(order.indexOf("one")).toBeLessThan(3);
});
