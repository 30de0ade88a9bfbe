import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createVectorIndex } from "./index.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import { readPart } from "./testing/snapshot-parts.js";
import type { VectorIndex, VectorIndexSettings } from "./vector-index.js";

const BLOCK_HEADER_BYTES = 32;
const NODES = 2;

/** For each node its links in each of its layers, from the lowest. */
type Links = readonly (readonly number[])[];

/** Reads the nodes of a snapshot that was written once (packages/native/cpp/snapshot-blocks.cc). */
function readNodes(file: Buffer): Links[] {
  const nodes: Links[] = [];
  for (let block = 0; block < file.length; ) {
    const [kind, count] = [file.readUInt32LE(block + 4), file.readUInt32LE(block + 12)];
    let at = block + BLOCK_HEADER_BYTES;
    const end = at + Number(file.readBigUInt64LE(block + 16));
    expect(kind).toBe(NODES);
    for (let node = 0; node < count; node++) {
      const layers = file.readUInt16LE(at) + 1;
      at += 2;
      nodes.push(
        Array.from({ length: layers }, () => {
          const links = Array.from({ length: file.readUInt16LE(at) }, (_, i) => file.readUInt32LE(at + 2 + 4 * i));
          at += 2 + 4 * links.length;
          return links;
        }),
      );
    }
    expect(at).toBe(end);
    block = end;
  }
  return nodes;
}

async function nodesOf(index: VectorIndex, settings: VectorIndexSettings): Promise<Links[]> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-graph-links-"));
  try {
    await index.snapshot(join(folder, "index"));
    return readNodes(await readPart(join(folder, "index"), settings, "nodes"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The nodes that links of the lowest layer lead to from one of the highest. */
function reached(nodes: readonly Links[]): Set<number> {
  const highest = nodes.reduce((best, node, i) => (node.length > (nodes[best]?.length ?? 0) ? i : best), 0);
  const seen = new Set([highest]);
  for (const node of seen) for (const link of nodes[node]?.[0] ?? []) seen.add(link);
  return seen;
}

describe("links that several threads make at once", () => {
  it.each([
    { maxConnections: 64, efConstruction: 128, reach: 0.99, seed: 51 },
    { maxConnections: 16, efConstruction: 48, reach: 0.99, seed: 52 },
    // Two links of its own do not hold a graph together.
    { maxConnections: 4, efConstruction: 16, reach: 0, seed: 53 },
    // Fewer candidates than places, and lists longer than a batch of distances.
    { maxConnections: 200, efConstruction: 24, reach: 0.99, seed: 54 },
  ])("are sound with %j", async ({ maxConnections, efConstruction, reach, seed }) => {
    const random = seededVectors(seed);
    const dimensions = 16;
    const count = 8000;
    const settings = { dimensions, maxConnections, efConstruction };
    const search = {
      ef: -1,
      targetRecall: 0.98,
      flatSearchCutoff: 0,
      unindexedVectorsMax: 0,
      cleanupIntervalSeconds: 0,
    };
    await using index = createVectorIndex(settings, search);
    const vectors = random.clustered(count, dimensions, 40);
    // Some copies, and a centre that is near to many: its lists fill up, and are pruned again and again.
    for (let row = 0; row < count; row += 50) vectors.copyWithin(row * dimensions, 0, dimensions);
    for (let row = 1; row < count; row += 4)
      for (let i = 0; i < dimensions; i++) vectors[row * dimensions + i] = 1 + 0.3 * random.normal();
    index.put(
      Uint32Array.from({ length: count }, (_, i) => i),
      vectors,
      1,
    );
    await index.linked();
    const nodes = await nodesOf(index, settings);
    expect(nodes.length).toBe(count);
    nodes.forEach((layers, node) => {
      layers.forEach((links, layer) => {
        const where = `node ${node}, layer ${layer}`;
        expect(links.length, where).toBeLessThanOrEqual(layer === 0 ? maxConnections : maxConnections / 2);
        expect(new Set(links).size, where).toBe(links.length);
        expect(links, where).not.toContain(node);
        // Each leads to a node that stands in this layer.
        expect(links.filter((link) => (nodes[link]?.length ?? 0) <= layer)).toEqual([]);
      });
      expect(layers[0]?.length, `node ${node}`).toBeGreaterThan(0);
    });
    // Each layer holds the share of the one below that the number of links says, give or take five deviations.
    const upper = nodes.filter((layers) => layers.length > 1).length;
    const share = 2 / maxConnections;
    expect(Math.abs(upper - count * share)).toBeLessThan(5 * Math.sqrt(count * share * (1 - share)));
    expect(reached(nodes).size).toBeGreaterThan(reach * count);
  });
});
