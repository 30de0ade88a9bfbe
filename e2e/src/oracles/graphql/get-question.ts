import { at } from "../../http-client.js";
import { type Clause, clauseJson, clauseText, smallerClauses } from "./clause.js";
import { type Grouping, groupsOf, mergedRow } from "./grouped-rows.js";
import { certainEnough, checkDecided, faultOfPage, type Ranked, ranked, shownCertainty } from "./nearest.js";
import { difference, type Question, type QuestionBody } from "./question.js";
import { satisfies } from "./satisfies.js";
import { expectedRow, type Selection, selectionText, smallerSelections } from "./selection.js";
import type { World, WorldObject } from "./world.js";

export interface Near {
  readonly vector: readonly number[];
  /** The object whose vector that is, when the query names it instead. */
  readonly id: string | undefined;
  readonly certainty: number | undefined;
}

export interface GetParts {
  readonly className: string;
  readonly where: Clause | undefined;
  readonly near: Near | undefined;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
  readonly group: Grouping | undefined;
  readonly selection: Selection;
  /** The filter goes as a variable; fragments have names. */
  readonly style: { readonly isVariable: boolean; readonly hasNames: boolean };
}

const LIMIT_DEFAULT = 100;

/** `Get { Class(…) { … } }`. */
export class GetQuestion implements Question {
  constructor(
    readonly world: World,
    readonly parts: GetParts,
  ) {}

  get body(): QuestionBody {
    const { className, where, near, limit, offset, group, selection, style } = this.parts;
    const isVariable = style.isVariable && where !== undefined;
    const named: string[] | undefined = style.hasNames ? [] : undefined;
    const given = [
      where === undefined ? undefined : `where: ${isVariable ? "$where" : clauseText(where)}`,
      near === undefined ? undefined : nearText(near),
      limit === undefined ? undefined : `limit: ${limit}`,
      offset === undefined ? undefined : `offset: ${offset}`,
      group === undefined ? undefined : `group: {type: ${group.type}, force: ${group.force}}`,
    ].filter((one) => one !== undefined);
    const additional = near === undefined ? "id" : "id certainty";
    const fields = selectionText(this.world, className, selection, additional, named);
    const head = isVariable ? `query q($where: GetObjects${className}WhereInpObj) ` : "";
    const query = `${head}{ Get { ${className}${given.length === 0 ? "" : `(${given.join(", ")})`} { ${fields} } } }`;
    return {
      query: [query, ...(named ?? [])].join(" "),
      ...(isVariable ? { variables: { where: clauseJson(where) } } : {}),
    };
  }

  expected(world: World): unknown {
    const { page } = this.#hits(world);
    return this.#rows(world, page);
  }

  fault(world: World, answer: unknown): string | undefined {
    const { className, near, group } = this.parts;
    const rows = at(answer, "data", "Get", className);
    if (!Array.isArray(rows)) return "there are no rows";
    const { all, page } = this.#hits(world);
    if (near === undefined || group !== undefined) return difference(this.#rows(world, page), rows);
    const ids = rows.map((row) => String(at(row, "_additional", "id")));
    const wrong = faultOfPage(all, page, ids);
    if (wrong !== undefined) return wrong;
    const byId = new Map(all.map((one) => [one.object.id, one]));
    const hits = ids.map((id) => byId.get(id)).filter((one) => one !== undefined);
    return difference(this.#rows(world, hits), rows);
  }

  smaller(): readonly Question[] {
    const { parts } = this;
    const { where, near, limit, offset, group, selection, style } = parts;
    const changes: Partial<GetParts>[] = [
      ...(group === undefined ? [] : [{ group: undefined }]),
      ...(near === undefined ? [] : [{ near: undefined }]),
      ...(near?.certainty === undefined ? [] : [{ near: { ...near, certainty: undefined } }]),
      ...(where === undefined ? [] : [{ where: undefined }, ...smallerClauses(where).map((one) => ({ where: one }))]),
      ...(offset === undefined ? [] : [{ offset: undefined }]),
      ...(limit === undefined ? [] : [{ limit: undefined }]),
      ...(style.isVariable || style.hasNames ? [{ style: { isVariable: false, hasNames: false } }] : []),
      ...smallerSelections(selection).map((one) => ({ selection: one })),
    ];
    return changes.map((change) => new GetQuestion(this.world, { ...parts, ...change }));
  }

  #hits(world: World): { readonly all: readonly Ranked[]; readonly page: readonly Ranked[] } {
    const { className, where, near, limit = LIMIT_DEFAULT, offset = 0, group } = this.parts;
    const kept = world.objectsOf(className).filter((one) => where === undefined || satisfies(world, one, where));
    const all = near === undefined ? kept.map((object) => ({ object, distance: 0 })) : ranked(kept, near.vector);
    if (near !== undefined && group !== undefined) checkDecided(all, offset, offset + limit);
    return { all, page: certainEnough(all.slice(offset, offset + limit), near?.certainty) };
  }

  #rows(world: World, page: readonly Ranked[]): readonly unknown[] {
    const { near, group, selection } = this.parts;
    const distances = new Map(page.map((one) => [one.object.id, one.distance]));
    const single = (object: WorldObject): unknown => ({
      ...expectedRow(world, object, selection, false),
      _additional: additional(object.id, near && shownCertainty(distances.get(object.id) ?? 0)),
    });
    if (group === undefined) return page.map(({ object }) => single(object));
    const groups = groupsOf(
      page.map(({ object }) => object),
      group.force,
    );
    if (group.type === "closest") return groups.map(([first]) => (first === undefined ? null : single(first)));
    return groups.map((members) => ({
      ...mergedRow(world, members, selection),
      _additional: additional("", near && 1),
    }));
  }
}

function additional(id: string, certainty: unknown): object {
  return certainty === undefined ? { id } : { id, certainty };
}

export function nearText({ vector, id, certainty }: Near): string {
  const end = certainty === undefined ? "" : `, certainty: ${certainty}`;
  return id === undefined ? `nearVector: {vector: [${vector.join(", ")}]${end}}` : `nearObject: {id: "${id}"${end}}`;
}
