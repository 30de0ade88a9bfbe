import type { SeededRandom } from "@shoal/seeded-random";
import type { HttpClient } from "../http-client.js";
import { DATA_TYPES, type KnownNames } from "./known-names.js";

const OBJECTS = 200;
const DIMENSIONS = 3;

/** Three classes with a property of every data type and references to each other, and objects in them. */
export async function createGraphqlClasses(http: HttpClient, names: KnownNames, chance: SeededRandom): Promise<void> {
  const classNames = names.classNames.slice(0, 3);
  for (const [at, name] of classNames.entries()) {
    const properties = [
      // The queries with too much in them speak of these.
      ...[property("title", "text"), property("count", "int"), property("tags", "string[]")],
      ...DATA_TYPES.map((dataType) => property(`my${dataType.replace("[]", "List")}`, dataType)),
    ];
    const body = { class: name, properties, shardingConfig: { desiredCount: at === 0 ? 3 : 1 } };
    await expectOk(http.post("/v1/schema", body));
  }
  for (const name of classNames) {
    await expectOk(
      http.post(`/v1/schema/${name}/properties`, { name: "ref", dataType: [name, ...classNames.slice(0, 2)] }),
    );
  }
  for (let from = 0; from < OBJECTS; from += 50) {
    const objects = Array.from({ length: 50 }, () => objectOf(names, chance));
    await expectOk(http.post("/v1/batch/objects", { objects }));
  }
}

function property(name: string, dataType: string): object {
  return { name, dataType: [dataType] };
}

/** An object under a known id; a quarter of them refer to another one. */
export function objectOf(names: KnownNames, chance: SeededRandom): object {
  const { id, className } = names.object(chance);
  const text = (): string => chance.pick(["some words", "number 7", "Größe ∑ 𝄞", "a b c", "x".repeat(2_000), ""]);
  const properties: Record<string, unknown> = {
    title: text(),
    count: chance.below(50),
    tags: chance.list(3, text),
    mystring: text(),
    mytext: text(),
    myint: chance.pick([0, -1, 7, 2 ** 53]),
    mynumber: chance.pick([0.5, -1e15, 1e-7]),
    myboolean: chance.oneIn(2),
    mydate: chance.pick(["2024-05-01T10:00:00Z", "1969-12-31T23:59:59.999999999+13:59"]),
    mygeoCoordinates: { latitude: chance.next() * 180 - 90, longitude: chance.next() * 360 - 180 },
    mytextList: chance.list(3, text),
    myintList: chance.list(5, () => chance.below(9)),
    mybooleanList: chance.list(2, () => chance.oneIn(2)),
  };
  for (const key of Object.keys(properties)) if (chance.oneIn(4)) delete properties[key];
  const target = names.object(chance);
  // Three classes hold objects; the others may come.
  const known = [...names.classes.keys()];
  const place = names.classNames.indexOf(className) % 3;
  const name = known.includes(className) ? className : names.classNames[place];
  if (chance.oneIn(4)) properties.ref = [{ beacon: `weaviate://localhost/${target.id}` }];
  const vector = Array.from({ length: DIMENSIONS }, () => chance.next() - 0.5);
  return { class: name, id, properties, vector };
}

async function expectOk(sent: Promise<{ readonly status: number; readonly text: string }>): Promise<void> {
  const { status, text } = await sent;
  if (status !== 200) throw new Error(`the classes of the run: ${status} ${text.slice(0, 500)}`);
}
