import { ShoalError } from "@shoal/model";
import { type BenchArguments, parseArguments, USAGE } from "./arguments.js";
import { Bench } from "./bench.js";
import { describeMachine } from "./machine.js";
import { headLine, type RowResult, resultLine, writeJson } from "./report.js";
import type { Row } from "./row.js";
import { ROWS, selectRows } from "./rows.js";

const say = (line: string) => process.stderr.write(`# ${line}\n`);

async function main(): Promise<void> {
  const options = parseArguments(process.argv.slice(2));
  if (options.help) return console.log(USAGE);
  if (options.list) return console.log(ROWS.map((row) => `${row.id.padEnd(10)} ${row.operation}`).join("\n"));
  const rows = selectRows(options.rows, options.target === null);
  if (rows.length === 0) throw new ShoalError("invalid", "these rows need a server of their own, without --target");

  const machine = describeMachine();
  console.log(`${machine.cpuModel}, ${machine.processors} processors, Node ${process.version}`);
  console.log(`calibration loop: ${machine.calibrationMs.toFixed(0)} ms CPU\n`);
  console.log(headLine());
  const results: RowResult[] = [];
  try {
    await runRows(rows, options, results);
  } finally {
    if (options.json !== null) writeJson(options.json, results);
  }
}

/** A row that fails is told and left out of the results; the others still run. */
async function runRows(rows: readonly Row[], options: BenchArguments, results: RowResult[]): Promise<void> {
  await using bench = new Bench({ target: options.target, queries: options.queries, withTokens: options.tokens, say });
  for (const row of rows) {
    try {
      const result = { row, figures: await row.run(bench) };
      results.push(result);
      console.log(resultLine(result));
    } catch (thrown) {
      const log = bench.serverLog();
      console.error(`shoal bench: ${row.id} failed: ${ShoalError.from(thrown).message.trimEnd()}\n${log}`.trimEnd());
      process.exitCode = 1;
      await bench.abandon();
    }
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
main().catch((thrown: unknown) => {
  console.error(`shoal bench: ${ShoalError.from(thrown).message.trimEnd()}`);
  process.exitCode = 1;
});
