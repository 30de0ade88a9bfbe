import type { SeededRandom } from "@shoal/seeded-random";
import { type Answer, at, type HttpClient, type Row } from "../../http-client.js";
import { randomId } from "../../random-objects.js";
import { randomValue, vectorOf } from "./make-values.js";
import { referredIds, type World, type WorldClass, type WorldObject, type WorldProperty } from "./world.js";

/** Writes of every kind, each to the server and to the world. */
export class WorldChanges {
  constructor(
    readonly http: HttpClient,
    readonly world: World,
    readonly chance: SeededRandom,
  ) {}

  /** New objects, in batches and one by one; references come in a batch of their own, some to what is not there. */
  async create(count: number): Promise<void> {
    const made = Array.from({ length: count }, () => this.#newObject());
    const single = made.slice(0, 5);
    for (const one of single) await succeeded(this.http.post("/v1/objects", bodyOf(one)));
    await this.#batch(made.slice(5));
    for (const one of made) this.world.objects.set(one.id, one);
    await this.#batchReferences(Math.ceil(count * 1.2));
    await this.readTimes();
  }

  /** Changes of existing objects. */
  async change(count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      const object = this.chance.pick([...this.world.objects.values()]);
      switch (this.chance.below(8)) {
        case 0:
          await this.#put(object);
          break;
        case 1:
        case 2:
          await this.#patch(object);
          break;
        case 3:
          await succeeded(this.http.delete(`/v1/objects/${object.id}`));
          this.world.objects.delete(object.id);
          break;
        case 4:
          await this.#postReference(object);
          break;
        case 5:
          await this.#putReferences(object);
          break;
        case 6:
          await this.#deleteReference(object);
          break;
        default:
          await this.#overwrite(object);
      }
    }
    await this.readTimes();
  }

  /** The times that the server gave, and whether it lists just the objects that it should have. */
  async readTimes(): Promise<void> {
    for (const { name } of this.world.classes) {
      const path = `/v1/objects?class=${name}&after=00000000-0000-0000-0000-000000000000&limit=10000`;
      const listed = at((await this.http.get(path)).json, "objects") as readonly Row[];
      const expected = this.world.objectsOf(name);
      const ids = listed.map((one) => one.id);
      if (ids.join() !== expected.map((one) => one.id).join()) throw new Error(`the list of ${name} holds ${ids}`);
      for (const [place, object] of expected.entries()) {
        object.createdMs = Number(listed[place]?.creationTimeUnix);
        object.updatedMs = Number(listed[place]?.lastUpdateTimeUnix);
      }
    }
  }

  #newObject(): WorldObject {
    const { chance } = this;
    const definition = chance.pick(this.world.classes);
    const id = randomId(chance.next);
    return {
      id,
      className: definition.name,
      properties: this.#properties(definition),
      vector: vectorOf(definition.dimensions, chance),
      createdMs: 0,
      updatedMs: 0,
    };
  }

  /** Primitive ones; a third of them is not set. */
  #properties(definition: WorldClass): Map<string, unknown> {
    const set = definition.properties.filter(({ dataType }) => dataType !== "reference" && !this.chance.oneIn(3));
    return new Map(set.map(({ name, dataType }) => [name, randomValue(dataType, this.chance)]));
  }

  async #batch(objects: readonly WorldObject[]): Promise<void> {
    for (let from = 0; from < objects.length; from += 100) {
      const body = { objects: objects.slice(from, from + 100).map(bodyOf) };
      const results = (await succeeded(this.http.post("/v1/batch/objects", body))).json as readonly unknown[];
      const failed = results.find((one) => at(one, "result", "errors") !== undefined);
      if (failed !== undefined) throw new Error(`batch: ${JSON.stringify(failed)}`);
    }
  }

  async #batchReferences(count: number): Promise<void> {
    const { chance, world } = this;
    const made = Array.from({ length: count }, () => {
      const from = chance.pick([...world.objects.values()]);
      const property = this.#reference(from);
      return { from, property, to: chance.oneIn(20) ? randomId(chance.next) : this.#target(property) };
    });
    // Nothing to point to yet.
    const possible = made.filter((one) => one.to !== undefined);
    const body = possible.map(({ from, property, to }) => ({
      from: `weaviate://localhost/${from.className}/${from.id}/${property.name}`,
      to: `weaviate://localhost/${to}`,
    }));
    const results = (await succeeded(this.http.post("/v1/batch/references", body))).json as readonly unknown[];
    const failed = results.find((one) => at(one, "result", "errors") !== undefined);
    if (failed !== undefined) throw new Error(`batch of references: ${JSON.stringify(failed)}`);
    for (const { from, property, to } of possible) {
      from.properties.set(property.name, [...referredIds(from, property.name), to]);
    }
  }

  #reference({ className }: WorldObject): WorldProperty {
    return this.chance.pick(this.world.classOf(className).properties.filter((one) => one.dataType === "reference"));
  }

  /** An object that is there, of a class that the property names. */
  #target({ targets }: WorldProperty): string | undefined {
    const candidates = this.world.objectsOf(this.chance.pick(targets));
    return candidates.length === 0 ? undefined : this.chance.pick(candidates).id;
  }

  async #put(object: WorldObject): Promise<void> {
    const definition = this.world.classOf(object.className);
    const properties = this.#properties(definition);
    object.vector = vectorOf(definition.dimensions, this.chance);
    object.properties.clear();
    for (const [name, value] of properties) object.properties.set(name, value);
    await succeeded(this.http.put(`/v1/objects/${object.id}`, bodyOf(object)));
  }

  async #overwrite(object: WorldObject): Promise<void> {
    const properties = this.#properties(this.world.classOf(object.className));
    object.properties.clear();
    for (const [name, value] of properties) object.properties.set(name, value);
    await this.#batch([object]);
  }

  /** A few properties anew, a few gone. */
  async #patch(object: WorldObject): Promise<void> {
    const { chance } = this;
    const primitive = this.world.classOf(object.className).properties.filter((one) => one.dataType !== "reference");
    const properties: Record<string, unknown> = {};
    for (const { name, dataType } of primitive.filter(() => chance.oneIn(4))) {
      properties[name] = chance.oneIn(3) ? null : randomValue(dataType, chance);
      if (properties[name] === null) object.properties.delete(name);
      else object.properties.set(name, properties[name]);
    }
    const { className, id } = object;
    await succeeded(this.http.patch(`/v1/objects/${id}`, { class: className, id, properties }));
  }

  async #postReference(object: WorldObject): Promise<void> {
    const property = this.#reference(object);
    const target = this.#target(property);
    if (target === undefined) return;
    const path = `/v1/objects/${object.id}/references/${property.name}`;
    await succeeded(this.http.post(path, { beacon: `svc://localhost/${target}` }));
    object.properties.set(property.name, [...referredIds(object, property.name), target]);
  }

  async #putReferences(object: WorldObject): Promise<void> {
    const property = this.#reference(object);
    const targets = this.chance.list(4, () => this.#target(property)).filter((one) => one !== undefined);
    const path = `/v1/objects/${object.id}/references/${property.name}`;
    await succeeded(
      this.http.put(
        path,
        targets.map((target) => ({ beacon: `svc://localhost/${target}` })),
      ),
    );
    object.properties.set(property.name, targets);
  }

  async #deleteReference(object: WorldObject): Promise<void> {
    const { name } = this.#reference(object);
    const ids = referredIds(object, name);
    if (ids.length === 0) return;
    const gone = this.chance.pick(ids);
    const body = { beacon: `svc://localhost/${gone}` };
    await succeeded(this.http.send("DELETE", `/v1/objects/${object.id}/references/${name}`, body));
    // The first equal one.
    object.properties.set(
      name,
      ids.filter((_, place) => place !== ids.indexOf(gone)),
    );
  }
}

/** An object as it is sent. */
function bodyOf({ id, className, properties, vector }: WorldObject): object {
  const entries = [...properties].map(([name, value]) => [name, value]);
  return { class: className, id, properties: Object.fromEntries(entries), vector };
}

async function succeeded(sent: Promise<Answer>): Promise<Answer> {
  const answer = await sent;
  if (answer.status >= 300) throw new Error(`a write was refused: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer;
}
