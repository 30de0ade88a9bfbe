import { BENCH_SETS, benchRows, rowCategory, rowId, rowPrice, type SetName } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";

export interface FilteredListParameters {
  readonly set: SetName;
  readonly loaded: number;
  /** `and`: a category and a price below one of 999; `like`: words that begin with two letters. */
  readonly filter: "and" | "like";
  readonly limit: number;
  readonly warmUpRequests: number;
  readonly requests: number;
}

const FIELDS = ["text", "category", "rank", "price"];

interface Listing {
  readonly where: string;
  /** The first rows that satisfy it, by id. */
  rows(): readonly string[];
}

/** Get with a filter. Every answer is compared with what the data say: the first objects by id, all of them. */
export async function prepare(url: URL, parameters: FilteredListParameters): Promise<Workload> {
  const { set, loaded, filter, limit, warmUpRequests, requests } = parameters;
  const { className } = BENCH_SETS[set];
  const { texts } = await benchRows(set, 0, loaded);
  const byId = texts.map((_, row) => ({ row, id: rowId(set, row) })).sort((a, b) => (a.id < b.id ? -1 : 1));
  const listings = filter === "and" ? categoriesBelow(byId, limit) : prefixes(byId, texts, limit);
  // The fields in every turn, so that no two requests are the same for long.
  const orders = FIELDS.map((_, turn) => [...FIELDS.slice(turn), ...FIELDS.slice(0, turn)].join(" "));
  const listing = (index: number) => listings[index % listings.length] as Listing;
  const bodies = Array.from(
    { length: Math.min(warmUpRequests + requests, listings.length * orders.length) },
    (_, index) => {
      const order = orders[Math.floor(index / listings.length)];
      const query = `{ Get { ${className}(where: ${listing(index).where}, limit: ${limit}) { ${order} _additional { id } } } }`;
      return httpRequest(url, "POST", "/v1/graphql", JSON.stringify({ query }));
    },
  );
  return {
    warmUpRequests,
    requests,
    request: (index) => bodies[index % bodies.length] as Buffer,
    fault(index, { status, body }) {
      const text = body.toString("latin1");
      const ids = Array.from(text.matchAll(/"id":"([^"]*)"/g), ([, id]) => id);
      const expected = listing(index % bodies.length);
      if (status === 200 && !text.includes('"errors":[') && ids.join() === expected.rows().join()) return undefined;
      return `${expected.where}: ${status} ${text.slice(0, 300)}, expected ${expected.rows().join(" ")}`;
    },
  };
}

interface ListedRow {
  readonly row: number;
  readonly id: string;
}

function categoriesBelow(byId: readonly ListedRow[], limit: number): readonly Listing[] {
  const categories = new Map<string, ListedRow[]>();
  for (const one of byId) {
    const rows = categories.get(rowCategory(one.row));
    if (rows === undefined) categories.set(rowCategory(one.row), [one]);
    else rows.push(one);
  }
  const prices = Array.from({ length: 999 }, (_, at) => 1 + ((at * 617) % 999));
  return prices.flatMap((price) =>
    [...categories].map(([category, rows]) => ({
      where: `{operator: And, operands: [{path: ["category"], operator: Equal, valueString: "${category}"}, {path: ["price"], operator: LessThan, valueInt: ${price}}]}`,
      rows: () => firstIds(rows, ({ row }) => rowPrice(row) < price, limit),
    })),
  );
}

function firstIds(rows: readonly ListedRow[], keeps: (row: ListedRow) => boolean, limit: number): readonly string[] {
  const ids: string[] = [];
  for (const row of rows) {
    if (ids.length === limit) break;
    if (keeps(row)) ids.push(row.id);
  }
  return ids;
}

/** Two letters that some word begins with. */
function prefixes(byId: readonly ListedRow[], texts: readonly string[], limit: number): readonly Listing[] {
  const found = new Map<string, string[]>();
  for (const { row, id } of byId) {
    const tokens = (texts[row] ?? "").toLowerCase().split(/[^\p{L}\p{N}]/u);
    const starts = new Set(tokens.filter((token) => /^[a-z]{2}/.test(token)).map((token) => token.slice(0, 2)));
    for (const start of starts) {
      const ids = found.get(start) ?? [];
      if (ids.length < limit) ids.push(id);
      found.set(start, ids);
    }
  }
  return [...found].map(([start, ids]) => ({
    where: `{path: ["text"], operator: Like, valueText: "${start}*"}`,
    rows: () => ids,
  }));
}
