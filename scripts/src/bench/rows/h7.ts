import type { SetName } from "../bench-class.js";
import type { Row } from "../row.js";

export const h7Words = importRow("H7-100d", "batch import of 100, an object of 100-d", 200, "glove");
export const h7Images = importRow("H7-784d", "batch import of 100, an object of 784-d", 260, "fashion");

/** The import that loads the set for the other rows: CPU time from its first request until the server rests. */
function importRow(id: string, operation: string, target: number, set: SetName): Row {
  return {
    id,
    group: "H7",
    operation,
    target,
    figure: "cpuMicros",
    byDefault: true,
    needsOwnServer: false,
    async run(bench) {
      const { imported, loaded } = await bench.loaded(set);
      const objectsPerSecond = Math.round(loaded / imported.load.seconds);
      return { ...imported, note: `${objectsPerSecond.toLocaleString("en")} objects/s; requests are batches` };
    },
  };
}
