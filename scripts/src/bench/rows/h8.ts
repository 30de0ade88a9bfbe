import { ShoalError } from "@shoal/model";
import { ask } from "../ask.js";
import type { LoadedServer } from "../bench.js";
import { BENCH_SETS, rowId } from "../bench-class.js";
import type { RowFigures } from "../figures.js";
import { measure } from "../measure.js";
import type { Row } from "../row.js";
import {
  type ObjectVerb,
  objectRows,
  patchedPrice,
  putVectors,
  type SingleObjectParameters,
} from "../workloads/single-object.js";
import { wordsRow } from "./words-row.js";

/** Of the measured requests, so many more go ahead of them: a server runs for days, V8 compiles its code in the first seconds. */
const WARM_UP_SHARE = 1 / 3;
const VERIFIED_OBJECTS = 20;

/** Reads first, then what changes the data. */
export const h8: readonly Row[] = [
  objectRow("get", "GET by id", 30, 58_000),
  objectRow("patch", "PATCH of one property", 200, 9000),
  objectRow("put", "PUT with a new vector", 500, 9000),
  objectRow("post", "POST of a new object", 320, 9000),
  objectRow("delete", "DELETE", 270, 9000),
];

function objectRow(verb: ObjectVerb, operation: string, target: number, requests: number): Row {
  return wordsRow({ id: `H8-${verb}`, group: "H8", operation, target }, (server) =>
    measureObjects(server, verb, requests),
  );
}

/** Measures one verb on a server that holds words, and looks at what it has done. */
export async function measureObjects(server: LoadedServer, verb: ObjectVerb, requests: number): Promise<RowFigures> {
  const warmUpRequests = Math.round(requests * WARM_UP_SHARE);
  const parameters: SingleObjectParameters = {
    set: "glove",
    loaded: server.loaded,
    verb,
    warmUpRequests,
    requests,
  };
  const figures = await measure(server, { workload: "single-object", parameters, untilIdle: verb !== "get" });
  await verify(server, verb, warmUpRequests + figures.load.requests);
  return { ...figures, note: `${figures.load.requests} objects` };
}

/** Looks at some of the objects: that answers were quick says nothing about what was done. */
async function verify(server: LoadedServer, verb: ObjectVerb, count: number): Promise<void> {
  const rows = objectRows(verb, server.loaded, count);
  const vectors = verb === "put" ? await putVectors("glove", server.loaded, count) : new Float32Array(0);
  for (let step = 0; step < VERIFIED_OBJECTS; step++) {
    const index = Math.floor((step * (count - 1)) / (VERIFIED_OBJECTS - 1));
    const row = rows[index] as number;
    const response = await ask(server.url, `/v1/objects/${rowId("glove", row)}?include=vector`);
    const body = await response.text();
    if (!isAsExpected(verb, row, response.status, body, () => unitVector(vectors, index))) {
      throw new ShoalError("internal", `after ${verb} row ${row} is: ${response.status} ${body.slice(0, 300)}`);
    }
  }
}

function isAsExpected(verb: ObjectVerb, row: number, status: number, body: string, vector: () => number[]): boolean {
  if (verb === "delete") return status === 404;
  if (status !== 200) return false;
  const object = JSON.parse(body) as { properties: { rank: number; price: number }; vector: number[] };
  if (object.properties.rank !== row) return false;
  if (verb === "patch") return object.properties.price === patchedPrice(row);
  if (verb === "put") return vector().every((value, at) => Math.abs(value - (object.vector[at] ?? Number.NaN)) < 1e-5);
  return true;
}

function unitVector(vectors: Float32Array, index: number): number[] {
  const { dimensions } = BENCH_SETS.glove;
  const values = [...vectors.subarray(index * dimensions, (index + 1) * dimensions)];
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}
