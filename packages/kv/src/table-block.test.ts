import { expect, it } from "vitest";
import { parseIndexBlock, TRAILER_BYTES } from "./table-block.js";

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** As RocksDB writes it: whole keys and places, but every fourth entry shares a byte and follows the block before. */
function indexOf(sizes: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let offset = 0;
  for (const [at, size] of sizes.entries()) {
    const key = [...Buffer.from(`k${String(at).padStart(6, "0")}`)];
    const change = size - (sizes[at - 1] ?? 0);
    if (at % 4 === 3)
      bytes.push(1, key.length - 1, ...key.slice(1), ...varint(change < 0 ? -2 * change - 1 : 2 * change));
    else bytes.push(0, key.length, ...key, ...varint(offset), ...varint(size));
    offset += size + TRAILER_BYTES;
  }
  return Uint8Array.from([...bytes, 0, 0, 0, 0, 1, 0, 0, 0]);
}

it("reads all places of a large index, and yields to the event loop", async () => {
  const sizes = Array.from({ length: 20_000 }, (_, at) => 2000 + ((at * 7919) % 100));
  let iterations = 0;
  let isCounting = true;
  const count = () => {
    iterations += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const places = await parseIndexBlock(indexOf(sizes));
  isCounting = false;
  let offset = 0;
  for (const [at, size] of sizes.entries()) {
    const place = places?.[at];
    if (place?.offset !== offset || place.size !== size) expect(place, `place ${at}`).toMatchObject({ offset, size });
    if (at % 1000 < 8) {
      expect(Buffer.from(place?.key ?? []).toString()).toBe(`k${String(at).padStart(6, "0")}`);
    }
    offset += size + TRAILER_BYTES;
  }
  expect(places).toHaveLength(sizes.length);
  expect(iterations).toBeGreaterThanOrEqual(4);
});

it.each([
  ["no count of restarts", [1, 0]],
  ["more restarts than bytes", [0, 0, 9, 0, 0, 0]],
  ["a key behind the end", [0, 50, 1, 1, 0, 0, 0, 0]],
  ["a key that shares with nothing", [3, 1, 65, 1, 0, 0, 0, 0]],
  ["a place without an end", [0, 1, 65, 255, 0, 0, 0, 0]],
])("refuses %s", async (_, bytes) => {
  expect(await parseIndexBlock(Uint8Array.from(bytes))).toBeUndefined();
});
