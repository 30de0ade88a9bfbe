import { seededRandom } from "@shoal/seeded-random";
import { BENCH_SETS, benchRows, ObjectTexts, rowId, type SetName } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";
import { queryVectors } from "../query-vectors.js";
import { vectorTexts } from "../vector-text.js";

export type ObjectVerb = "get" | "post" | "put" | "patch" | "delete";

export interface SingleObjectParameters {
  readonly set: SetName;
  readonly loaded: number;
  readonly verb: ObjectVerb;
  readonly warmUpRequests: number;
  readonly requests: number;
}

const STATUSES: Readonly<Record<ObjectVerb, readonly number[]>> = {
  get: [200],
  post: [200, 201],
  put: [200, 204],
  patch: [200, 204],
  delete: [200, 204],
};

/** Prices that PATCH writes; the loaded ones are below 1,000. */
const PATCHED_PRICE = 5000;

/** One object a request; every request has an object of its own, except GET over more requests than rows. */
export async function prepare(url: URL, parameters: SingleObjectParameters): Promise<Workload> {
  const { set, loaded, verb, warmUpRequests, requests } = parameters;
  const total = warmUpRequests + requests;
  const rows = objectRows(verb, loaded, total);
  const bodies = await requestBodies(set, verb, loaded, rows);
  const prepared = rows.map((row, index) => {
    const path = verb === "post" ? "/v1/objects" : `/v1/objects/${rowId(set, row)}`;
    return httpRequest(url, verb.toUpperCase(), path, bodies(index));
  });
  return {
    warmUpRequests,
    requests,
    request: (index) => prepared[index] as Buffer,
    fault(index, { status, body }) {
      if (!STATUSES[verb].includes(status)) return `${verb}: ${status} ${body.toString("utf8", 0, 300)}`;
      if (verb !== "get" || body.includes(rowId(set, rows[index] as number))) return undefined;
      return `get: another object: ${body.toString("utf8", 0, 300)}`;
    },
  };
}

/** POST takes the rows behind the loaded ones; PUT, PATCH and DELETE take loaded ones at random, apart from each other. */
export function objectRows(verb: ObjectVerb, loaded: number, count: number): readonly number[] {
  if (verb === "post") return Array.from({ length: count }, (_, index) => loaded + index);
  const order = seededRandom(loaded).shuffled(Array.from({ length: loaded }, (_, index) => index));
  const tenths = { get: 0, put: 0, patch: 1, delete: 2 }[verb];
  const first = Math.floor((tenths * loaded) / 10);
  return Array.from({ length: count }, (_, index) => order[(first + index) % loaded] as number);
}

/** The new vectors that PUT gives to its objects, in order. */
export function putVectors(set: SetName, loaded: number, count: number): Promise<Float32Array> {
  return queryVectors(set, loaded, "held-out", count);
}

export function patchedPrice(row: number): number {
  return PATCHED_PRICE + row;
}

async function requestBodies(
  set: SetName,
  verb: ObjectVerb,
  loaded: number,
  rows: readonly number[],
): Promise<(index: number) => string | undefined> {
  const row = (index: number) => rows[index] as number;
  const { className } = BENCH_SETS[set];
  if (verb === "post") {
    const objects = new ObjectTexts(set, await benchRows(set, loaded, rows.length), loaded);
    return (index) => objects.text(index);
  }
  if (verb === "put") {
    const objects = new ObjectTexts(set, await benchRows(set, 0, loaded), 0);
    const vector = vectorTexts(await putVectors(set, loaded, rows.length), BENCH_SETS[set].dimensions);
    return (index) => objects.text(row(index), vector(index));
  }
  if (verb === "patch") {
    return (index) =>
      JSON.stringify({
        class: className,
        id: rowId(set, row(index)),
        properties: { price: patchedPrice(row(index)) },
      });
  }
  return () => undefined;
}
