import { SPEC_PROFILE } from "@shoal/model";
import { expect, it } from "vitest";
import { GraphQlHandler } from "./handler.js";
import { CONTEXT } from "./testing/ask-library.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "./testing/library.js";

/** A view that hears of changes only when it asks. */
class LateView extends LibraryView {
  questions = 0;
  /** What the coordinator has. */
  newest = LIBRARY_CLASSES;

  override async refresh(): Promise<void> {
    this.questions++;
    if (this.newest.length !== this.snapshot.classes.length) this.change(this.newest);
  }
}

function setUp(known: number) {
  const schema = new LateView(LIBRARY_CLASSES.slice(0, known));
  const handler = new GraphQlHandler({ schema, query: new LibraryQuery(), wire: SPEC_PROFILE, onFault: () => {} });
  const ask = async (query: string) => {
    const response = await handler.execute(Buffer.from(JSON.stringify({ query })), CONTEXT);
    return { status: response.status, json: JSON.parse(response.body.toString()) };
  };
  const askBatch = async (query: string) => {
    const response = await handler.executeBatch(Buffer.from(JSON.stringify([{ query }])), CONTEXT);
    return JSON.parse(Buffer.concat(response.chunks).toString());
  };
  return { schema, ask, askBatch };
}

const last = LIBRARY_CLASSES.at(-1)?.class ?? "";
const QUERY = `{ Get { ${last} { _additional { id } } } }`;

it.each([0, LIBRARY_CLASSES.length - 1])("a class that is not known yet is asked for (%d are known)", async (known) => {
  const { schema, ask } = setUp(known);
  const { status, json } = await ask(QUERY);
  expect([status, json.errors, Object.keys(json.data.Get)]).toEqual([200, null, [last]]);
  expect(schema.questions).toBe(1);
  await ask(QUERY);
  expect(schema.questions).toBe(1);
});

it("so it is for a batch, when nothing is known at all", async () => {
  const { schema, askBatch } = setUp(0);
  const [response] = await askBatch(QUERY);
  expect([Object.keys(response.data.Get), schema.questions]).toEqual([[last], 1]);
});

it("what is refused with the newest schema, too, is asked for once", async () => {
  const { schema, ask } = setUp(LIBRARY_CLASSES.length);
  const { json } = await ask("{ Get { Nothing { _additional { id } } } }");
  expect(json.errors[0].message).toContain("Nothing");
  expect(schema.questions).toBe(1);
  const late = setUp(1);
  expect((await late.ask("{ Get { Nothing { _additional { id } } } }")).json.errors[0].message).toContain("Nothing");
  expect(late.schema.questions).toBe(1);
});
