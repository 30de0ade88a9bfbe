import { ShoalError } from "@shoal/model";
import { type BenchRows, benchRows, classDefinition } from "../bench/bench-class.js";
import { type LoopReport, openConnections, runClosedLoop } from "../bench/load-generator/closed-loop.js";
import type { Workload } from "../bench/load-generator/workload.js";
import { vectorTexts } from "../bench/vector-text.js";
import { prepare as prepareImport } from "../bench/workloads/import-objects.js";
import { prepare as prepareQueries } from "../bench/workloads/near-vector.js";
import { nearestWords } from "./nearest-words.js";
import { ProgressBar } from "./progress-bar.js";
import type { Terminal } from "./terminal.js";

export const DEMO_WORDS = 50_000;
const OBJECTS_PER_BATCH = 100;
const IMPORT_CONNECTIONS = 4;
const ASKED_WORDS = ["paris", "guitar", "tuesday", "einstein", "coffee", "database"];
const NEIGHBOURS_SHOWN = 4;
const RECALL_QUERIES = 500;
const RECALL_MIN = 0.95;
const DIMENSIONS = 100;
const LIMITS = { secondsMax: 600, requestsPerSecond: null };

export interface DemoSize {
  /** 50,000 in the demo; tests take fewer. */
  readonly words: number;
  readonly recallQueries: number;
}

/**
 * The demo against a server that is ready and empty: import, neighbours, recall, as text on the terminal.
 * Errors: any answer of the server that is not what it must be, a word that does not find itself, recall below .95.
 */
export async function runDemo(
  url: URL,
  terminal: Terminal,
  size: DemoSize = { words: DEMO_WORDS, recallQueries: RECALL_QUERIES },
): Promise<void> {
  await importWords(url, terminal, size.words);
  await showNeighbours(url, terminal, await benchRows("glove", 0, size.words));
  await showRecall(url, terminal, size);
}

async function importWords(url: URL, terminal: Terminal, words: number): Promise<void> {
  terminal.line(
    terminal.style("bold", `\nImporting ${words.toLocaleString("en")} words through POST /v1/batch/objects`),
  );
  const created = await fetch(new URL("/v1/schema", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(classDefinition("glove")),
  });
  if (created.status !== 200) {
    throw new ShoalError("internal", `class Word: ${created.status} ${await created.text()}`);
  }
  const workload = await prepareImport(url, { set: "glove", from: 0, count: words, perBatch: OBJECTS_PER_BATCH });
  const bar = new ProgressBar(terminal, words, "words");
  let done = 0;
  const watched: Workload = {
    ...workload,
    fault(index, response) {
      done = Math.min(words, done + OBJECTS_PER_BATCH);
      bar.update(done);
      return workload.fault(index, response);
    },
  };
  const report = await run(url, watched, IMPORT_CONNECTIONS);
  const perSecond = Math.round(words / report.seconds).toLocaleString("en");
  terminal.line(
    `  ${terminal.style("green", `${perSecond} objects/s`)}, each acknowledged only when it is safe on disk; ` +
      `median batch ${report.p50Ms.toFixed(1)} ms`,
  );
}

async function showNeighbours(url: URL, terminal: Terminal, rows: BenchRows): Promise<void> {
  terminal.line(terminal.style("bold", "\nNearest words over GraphQL (with certainty)"));
  const vector = vectorTexts(rows.vectors, DIMENSIONS);
  for (const word of ASKED_WORDS) {
    const row = rows.texts.indexOf(word);
    if (row < 0) continue;
    const [itself, ...others] = await nearestWords(url, vector(row), NEIGHBOURS_SHOWN + 1);
    if (itself?.text !== word || itself.certainty < 0.999) {
      throw new ShoalError("internal", `'${word}' does not find itself first but '${itself?.text}'`);
    }
    const cells = others.map(({ text, certainty }) =>
      `${text} ${terminal.style("dim", certainty.toFixed(3))}`.padEnd(19 + terminal.style("dim", "").length),
    );
    terminal.line(`  ${terminal.style("cyan", word.padEnd(10))} ${cells.join(" ").trimEnd()}`);
  }
}

async function showRecall(url: URL, terminal: Terminal, { words, recallQueries }: DemoSize): Promise<void> {
  terminal.line(terminal.style("bold", "\nAgainst brute force"));
  const workload = await prepareQueries(url, {
    set: "glove",
    loaded: words,
    queries: "held-out",
    warmUpRequests: 0,
    requests: recallQueries,
    limit: 10,
    recallQueries,
  });
  const report = await run(url, workload, 1);
  const recall = workload.recall?.() ?? 0;
  terminal.line(
    `  recall@10 ${terminal.style("green", recall.toFixed(4))} over ${recallQueries} words that were not imported; ` +
      `${report.p50Ms.toFixed(2)} ms a query (median), ${report.p99Ms.toFixed(2)} ms (p99)`,
  );
  if (recall < RECALL_MIN) throw new ShoalError("internal", `recall ${recall.toFixed(4)} is below ${RECALL_MIN}`);
}

async function run(url: URL, workload: Workload, connectionCount: number): Promise<LoopReport> {
  const connections = await openConnections(url, connectionCount);
  try {
    const report = await runClosedLoop(connections, workload, 0, workload.requests, LIMITS);
    if (report.faults > 0) throw new ShoalError("internal", report.faultsShown.join("\n"));
    if (report.requests < workload.requests) {
      throw new ShoalError("deadlineExceeded", `only ${report.requests} of ${workload.requests} requests in time`);
    }
    return report;
  } finally {
    for (const connection of connections) connection[Symbol.dispose]();
  }
}
