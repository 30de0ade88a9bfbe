import type { Bench, LoadedServer } from "../bench.js";
import type { RowFigures } from "../figures.js";
import type { Row } from "../row.js";
import { measureNearVector, nearVectorLoad } from "./near-vector-rows.js";

const QUERIES = 30_000;
const QUERIES_ON_ONE_CONNECTION = 5000;

/** The figures of H1 on this server, measured once: H11 asks for the memory after just this load. */
const measured = new WeakMap<LoadedServer, RowFigures>();

export async function figuresOfH1(bench: Bench): Promise<RowFigures> {
  const server = await bench.loaded("glove");
  const before = measured.get(server);
  if (before !== undefined) return before;
  bench.say("nearVector over 16 connections");
  const load = nearVectorLoad("glove", server.loaded, bench.queries("held-out"), QUERIES);
  const figures = await measureNearVector(server, load);
  measured.set(server, figures);
  return figures;
}

export const h1: Row = {
  id: "H1",
  group: "H1",
  operation: "GraphQL nearVector, 100k × 100",
  target: 320,
  figure: "cpuMicros",
  recallMin: 0.95,
  byDefault: true,
  needsOwnServer: false,
  run: figuresOfH1,
};

export const h1OneConnection: Row = {
  id: "H1-c1",
  group: "H1",
  operation: "same, 1 connection",
  target: null,
  figure: "cpuMicros",
  byDefault: true,
  needsOwnServer: false,
  async run(bench) {
    const server = await bench.loaded("glove");
    bench.say("nearVector over 1 connection");
    const load = nearVectorLoad("glove", server.loaded, bench.queries("held-out"), QUERIES_ON_ONE_CONNECTION);
    return measureNearVector(server, { ...load, connections: 1 });
  },
};
