import { afterAll, expect, it } from "vitest";
import { embeddedContextionary } from "../embedded-contextionary.js";
import { StoredExtensions } from "../stored-extensions.js";
import { describeContextionary } from "../testing/contextionary-suite.js";
import { listenAnywhere } from "../testing/listen-anywhere.js";
import { MemoryExtensions } from "../testing/memory-extensions.js";
import { SMALL_WORDS, smallVocabulary } from "../testing/small-vocabulary.js";
import { remoteContextionary } from "./remote-contextionary.js";
import { serveContextionary } from "./serve-contextionary.js";

const open: AsyncDisposable[] = [];
afterAll(async () => {
  for (const one of open) await one[Symbol.asyncDispose]();
});

function small() {
  return embeddedContextionary(async () => smallVocabulary(), new StoredExtensions(new MemoryExtensions()));
}

async function serveSmall(contextionary = small()): Promise<string> {
  const server = await serveContextionary(contextionary, listenAnywhere, Date.now);
  open.push(server);
  return `127.0.0.1:${server.port}`;
}

function remote(address: string) {
  return remoteContextionary(address, { nowMs: Date.now, tell: () => {} });
}

describeContextionary("remote", async () => remote(await serveSmall()));

it("is ready when the other side is, and says who does not answer", async () => {
  await using there = remote(await serveSmall());
  await there.awaitReady({ deadline: Date.now() + 10_000 });
  await using gone = remote("127.0.0.1:1");
  await expect(gone.meta({ deadline: Date.now() + 300 })).rejects.toMatchObject({
    message: expect.stringContaining("the contextionary at 127.0.0.1:1"),
  });
  await expect(gone.awaitReady({ deadline: Date.now() })).rejects.toThrow("127.0.0.1:1");
});

it("asks for the neighbours of many vectors in parts, whose answers are those of all at once", async () => {
  const served = small();
  const parts: number[] = [];
  const { nearestUsualWords } = served;
  served.nearestUsualWords = (vectors, ...others) => {
    parts.push(vectors.length);
    return nearestUsualWords.call(served, vectors, ...others);
  };
  await using there = remote(await serveSmall(served));
  const vocabulary = smallVocabulary();
  const vectors = Array.from({ length: 250 }, (_, at) => vocabulary.vector(at % vocabulary.size));
  const context = { deadline: Date.now() + 60_000 };
  await using here = small();
  expect(await there.nearestUsualWords(vectors, 3, context)).toEqual(await here.nearestUsualWords(vectors, 3, context));
  expect(parts).toEqual([100, 100, 50]);
});

it("asks for the vectors of many words in parts", async () => {
  const served = small();
  const parts: number[] = [];
  const { vectorsForWords } = served;
  served.vectorsForWords = (words) => {
    parts.push(words.length);
    return vectorsForWords.call(served, words);
  };
  await using there = remote(await serveSmall(served));
  const words = Array.from({ length: 2_500 }, (_, at) => SMALL_WORDS[(at * 7) % SMALL_WORDS.length] ?? "");
  await using here = small();
  expect(await there.vectorsForWords(words, { deadline: Date.now() + 60_000 })).toEqual(
    await here.vectorsForWords(words),
  );
  expect(parts).toEqual([1_000, 1_000, 500]);
});

it("ends a call that nobody waits for any more", async () => {
  await using there = remote(await serveSmall());
  const signal = AbortSignal.abort(new Error("gone away"));
  await expect(there.meta({ deadline: Date.now() + 10_000, signal })).rejects.toThrow("gone away");
});
