import { at } from "../../http-client.js";
import { type Near, nearText } from "./get-question.js";
import { certainEnough, faultOfPage, type Ranked, ranked, shownCertainty } from "./nearest.js";
import { difference, type Question, type QuestionBody } from "./question.js";
import type { World } from "./world.js";

export interface ExploreParts {
  readonly near: Near;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

const LIMIT_DEFAULT = 20;

/** `Explore(…) { beacon className certainty }` over the classes that can answer. */
export class ExploreQuestion implements Question {
  constructor(readonly parts: ExploreParts) {}

  get body(): QuestionBody {
    const { near, limit, offset } = this.parts;
    const given = [
      nearText(near),
      ...(limit === undefined ? [] : [`limit: ${limit}`]),
      ...(offset === undefined ? [] : [`offset: ${offset}`]),
    ];
    return { query: `{ Explore(${given.join(", ")}) { beacon className certainty } }` };
  }

  expected(world: World): unknown {
    return this.#rows(world, this.#hits(world).page);
  }

  fault(world: World, answer: unknown): string | undefined {
    const rows = at(answer, "data", "Explore");
    if (!Array.isArray(rows)) return "there are no rows";
    const { all, page } = this.#hits(world);
    const ids = rows.map((row) => String(at(row, "beacon")).split("/").at(-1) ?? "");
    const wrong = faultOfPage(all, page, ids);
    if (wrong !== undefined) return wrong;
    const byId = new Map(all.map((one) => [one.object.id, one]));
    return difference(
      this.#rows(
        world,
        ids.map((id) => byId.get(id)).filter((one) => one !== undefined),
      ),
      rows,
    );
  }

  smaller(): readonly Question[] {
    const { parts } = this;
    const changes: Partial<ExploreParts>[] = [
      ...(parts.limit === undefined ? [] : [{ limit: undefined }]),
      ...(parts.offset === undefined ? [] : [{ offset: undefined }]),
      ...(parts.near.certainty === undefined ? [] : [{ near: { ...parts.near, certainty: undefined } }]),
    ];
    return changes.map((change) => new ExploreQuestion({ ...parts, ...change }));
  }

  #hits(world: World): { readonly all: readonly Ranked[]; readonly page: readonly Ranked[] } {
    const { near, limit, offset = 0 } = this.parts;
    const able = world.classes.filter((one) => !one.skipsVectors && one.dimensions === near.vector.length);
    const all = ranked(
      able.flatMap(({ name }) => world.objectsOf(name)),
      near.vector,
    );
    return { all, page: certainEnough(all.slice(offset, offset + (limit || LIMIT_DEFAULT)), near.certainty) };
  }

  #rows(world: World, page: readonly Ranked[]): readonly unknown[] {
    return page.map(({ object, distance }) => ({
      beacon: `${world.scheme}://localhost/${object.id}`,
      className: object.className,
      certainty: shownCertainty(distance),
    }));
  }
}
