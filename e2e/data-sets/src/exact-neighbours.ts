import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { crc32 } from "node:zlib";
import { ShoalError } from "@shoal/model";
import { CACHE_FOLDER, readOrBuild } from "./cache.js";
import { type CosineQuestion, scanCosine } from "./cosine-scan.js";
import { RowFile, writeRowFile } from "./row-file.js";

export interface NeighboursQuestion extends CosineQuestion {
  /** Names what `rows` holds (set and range): answers are kept under this name and a checksum of the queries. */
  readonly rowsName: string;
  readonly cacheFolder?: string;
}

/**
 * The exact answer to hold an index against: see `scanCosine`. Computed on all processors, once; the answer is kept in
 * the cache folder. 1,000 queries over 100,000 × 100 take about 5 s, over 60,000 × 784 about 20 s, on two processors.
 */
export async function exactNeighbours(question: NeighboursQuestion): Promise<Uint32Array> {
  const { rows, queries, dimensions, k, rowsName, cacheFolder = CACHE_FOLDER } = question;
  const valid = rows.length % dimensions === 0 && queries.length % dimensions === 0 && k >= 1;
  if (!valid || !/^[a-z0-9-]+$/.test(rowsName)) {
    throw new ShoalError("invalid", `rows and queries must be whole rows of ${dimensions}, k at least 1`);
  }
  const checksum = crc32(bytesOf(queries)).toString(16);
  const count = queries.length / dimensions;
  const path = join(cacheFolder, `neighbours-${rowsName}-${rows.length / dimensions}-k${k}-q${count}-${checksum}.u32`);
  const bytes = await readOrBuild(
    async () => {
      await using file = await RowFile.open(path, k * 4);
      return await file.read(0, count);
    },
    async () => {
      const answer = await scanOnAllProcessors({ rows, queries, dimensions, k });
      writeRowFile(path, k * 4, (append) => append(bytesOf(answer)));
    },
  );
  return new Uint32Array(bytes.buffer);
}

function bytesOf(array: Float32Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

async function scanOnAllProcessors(question: CosineQuestion): Promise<Uint32Array> {
  const { dimensions, k } = question;
  const count = question.queries.length / dimensions;
  // Uncompiled sources (in tests) have no file a thread could start from.
  const threads = import.meta.url.endsWith(".js") ? Math.min(availableParallelism(), Math.ceil(count / 64)) : 1;
  if (threads <= 1) return scanCosine(question);
  const rows = new Float32Array(new SharedArrayBuffer(question.rows.byteLength));
  rows.set(question.rows);
  const share = Math.ceil(count / threads);
  const answers = await Promise.all(
    Array.from({ length: threads }, (_, thread) => {
      const from = thread * share;
      const queries = question.queries.slice(from * dimensions, Math.min(count, from + share) * dimensions);
      return scanInThread({ rows, queries, dimensions, k });
    }),
  );
  const out = new Uint32Array(count * k);
  answers.forEach((answer, thread) => {
    out.set(answer, thread * share * k);
  });
  return out;
}

function scanInThread(question: CosineQuestion): Promise<Uint32Array> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./cosine-scan-thread.js", import.meta.url), { workerData: question });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
