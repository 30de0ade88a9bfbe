import type { SeededRandom } from "@shoal/seeded-random";
import type { HttpClient } from "../../http-client.js";
import { DATA_TYPES, World, type WorldClass, type WorldProperty } from "./world.js";

const CLASS_NAMES = ["Alpha", "Beta_2", "GammaRAY", "Delta"];

/** Three or four classes that refer to each other; over the worlds every data type and 1 and 3 shards. */
export function makeWorld(chance: SeededRandom, scheme: World["scheme"]): World {
  const names = CLASS_NAMES.slice(0, 3 + chance.below(2));
  const dimensions = 2 + chance.below(6);
  const classes = names.map((name, at): WorldClass => {
    const primitives = DATA_TYPES.filter(() => !chance.oneIn(3)).map((dataType) =>
      property(`${chance.pick(["my", "its", "the"])}${dataType.replace("[]", "List")}`, dataType),
    );
    const hidden = chance.pick(["text", "int", "boolean[]"]);
    const unindexed = { ...property(`hidden${hidden.replace("[]", "List")}`, hidden), isIndexed: false };
    const references = Array.from({ length: 1 + chance.below(2) }, (_, number) => {
      const first = names[(at + 1 + number) % names.length] ?? name;
      return property(`refers${number}`, "reference", chance.oneIn(2) ? [first, name] : [first]);
    });
    return {
      name,
      shards: chance.oneIn(2) ? 3 : 1,
      dimensions: at === 2 ? dimensions + 1 : dimensions,
      skipsVectors: at === 3,
      properties: [...primitives, unindexed, ...references],
    };
  });
  return new World(classes, scheme);
}

function property(name: string, dataType: string, targets: readonly string[] = []): WorldProperty {
  return { name, dataType, targets: [...new Set(targets)], isIndexed: true };
}

/** Creates the classes: first all names, as they refer to each other. */
export async function createClasses(http: HttpClient, { classes }: World): Promise<void> {
  for (const { name, shards, skipsVectors } of classes) {
    const vectorIndexConfig = { skip: skipsVectors };
    await created(http, "/v1/schema", { class: name, shardingConfig: { desiredCount: shards }, vectorIndexConfig });
  }
  for (const { name, properties } of classes) {
    for (const one of properties) {
      const dataType = one.dataType === "reference" ? one.targets : [one.dataType];
      await created(http, `/v1/schema/${name}/properties`, { name: one.name, dataType, indexInverted: one.isIndexed });
    }
  }
}

async function created(http: HttpClient, path: string, body: object): Promise<void> {
  const { status, text } = await http.post(path, body);
  if (status !== 200) throw new Error(`${path} ${JSON.stringify(body)}: ${status} ${text}`);
}

export async function deleteClasses(http: HttpClient, { classes }: World): Promise<void> {
  for (const { name } of classes) await http.delete(`/v1/schema/${name}`);
}
