import type { Bench, LoadedServer } from "../bench.js";
import type { RowFigures } from "../figures.js";
import type { Row } from "../row.js";

/** A row over the words that all such rows share: what it costs the processor. */
export function wordsRow(
  row: Pick<Row, "id" | "group" | "operation" | "target" | "recallMin">,
  run: (server: LoadedServer, bench: Bench) => Promise<RowFigures>,
): Row {
  return {
    ...row,
    figure: "cpuMicros",
    byDefault: true,
    needsOwnServer: false,
    async run(bench) {
      const server = await bench.loaded("glove");
      bench.say(row.operation);
      return run(server, bench);
    },
  };
}
