import { exactNeighbours } from "@shoal/data-sets";
import { ShoalError } from "@shoal/model";
import { ask } from "../ask.js";
import { BENCH_SETS, benchRows, rowId } from "../bench-class.js";
import { NO_FIGURES } from "../figures.js";
import { percentile } from "../load-generator/percentile.js";
import { recallOf } from "../load-generator/recall.js";
import type { Row } from "../row.js";
import type { ShoalServer } from "../shoal-server.js";
import { vectorTexts } from "../vector-text.js";
import { hitIds, nearVectorBody } from "../workloads/near-vector.js";
import { measureNearVector, nearVectorLoad } from "./near-vector-rows.js";

const OBJECTS = 170_000;
const ROUNDS = 3;
const LIMIT = 10;
const ANSWER_TIMEOUT_MS = 120_000;
const POLL_MS = 5;
/** The word asked for; its row is the answer's first. */
const WORD_ROW = 1000;
/** What counts as correct: the word itself first, and this much of its ten exact neighbours. */
const CORRECT_RECALL = 0.9;

/**
 * kill -9 of a server with 170,000 objects, then the time from starting the process to the first correct answer of a
 * nearVector query. The first kill comes right behind the last acknowledged batch, the later ones right behind an
 * answer. The target holds for the slowest round.
 */
export const h10: Row = {
  id: "H10",
  group: "H10",
  operation: "kill -9, restart, first correct answer (ms)",
  target: 1600,
  figure: "p99Ms",
  byDefault: true,
  needsOwnServer: true,
  async run(bench) {
    const question = await askForWord();
    await using server = await bench.ownServer();
    await bench.importInto({ url: server.url, pids: [server.pid] }, "glove", OBJECTS, false);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      bench.say(`kill -9, restart (${round + 1} of ${ROUNDS})`);
      await server.kill();
      const start = performance.now();
      server.launch();
      await untilCorrect(server, question);
      times.push(performance.now() - start);
    }
    const after = await measureNearVector(
      { url: server.url, pids: [server.pid] },
      nearVectorLoad("glove", OBJECTS, "perturbed", 2000),
    );
    const sorted = Float64Array.from(times).sort();
    return {
      ...NO_FIGURES,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      recall: after.recall,
      residentMb: after.residentMb,
      note: `rounds ${times.map((time) => Math.round(time)).join(", ")} ms; recall afterwards`,
    };
  },
  recallMin: 0.95,
};

interface Question {
  readonly body: string;
  readonly exactIds: readonly string[];
}

async function askForWord(): Promise<Question> {
  const { className, dimensions } = BENCH_SETS.glove;
  const { vectors } = await benchRows("glove", 0, OBJECTS);
  const queries = vectors.slice(WORD_ROW * dimensions, (WORD_ROW + 1) * dimensions);
  const exact = await exactNeighbours({ rows: vectors, queries, dimensions, k: LIMIT, rowsName: "glove" });
  const body = nearVectorBody(className, vectorTexts(queries, dimensions)(0), LIMIT);
  return { body, exactIds: Array.from(exact, (row) => rowId("glove", row)) };
}

async function untilCorrect(server: ShoalServer, question: Question): Promise<void> {
  const deadline = performance.now() + ANSWER_TIMEOUT_MS;
  let last = "no answer";
  while (performance.now() < deadline) {
    last = await answerFault(server.url, question);
    if (last === "") return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new ShoalError("deadlineExceeded", `no correct answer after the restart: ${last}\n${server.log()}`);
}

/** What is wrong with the answer now; "" when it is correct. */
async function answerFault(url: URL, question: Question): Promise<string> {
  try {
    const response = await ask(url, "/v1/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: question.body,
    });
    const body = Buffer.from(await response.arrayBuffer());
    const ids = hitIds(body, BENCH_SETS.glove.className, LIMIT);
    const correct = ids[0] === question.exactIds[0] && recallOf(ids, question.exactIds) >= CORRECT_RECALL;
    return correct ? "" : `hits ${ids.join(", ")}`;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
