// npm run faults -- [R1 R3 …] [--on process|cluster] [--copies N] [--short] [--seed N]: runs the named rows (all without names) and prints
// their figures.
import { seededRandom } from "@shoal/seeded-random";
import { newSeed } from "../random-objects.js";
import { readFaultArguments } from "./fault-arguments.js";
import { canRun, titleOf } from "./fault-row.js";
import { FAULT_ROWS } from "./rows.js";

const read = readFaultArguments(process.argv.slice(2));
if (read === undefined) {
  const ids = [...new Set(FAULT_ROWS.map((row) => row.id))].join(" ");
  console.error(`usage: npm run faults -- [${ids}] [--on process|cluster] [--copies N] [--short] [--seed N]`);
  process.exit(1);
}
const { rows, size } = read;
const seed = read.seed ?? newSeed();

let failed = 0;
let skipped = 0;
console.log(`seed ${seed}`);
for (const row of rows) {
  console.log(`\n${row.id} ${titleOf(row)}, ${size}${row.on === undefined ? "" : `, on a ${row.on}`}`);
  if (!canRun(row)) {
    console.log("  skipped: this machine lacks what it needs");
    skipped += 1;
    continue;
  }
  const begun = performance.now();
  try {
    const say = (line: string): void => console.log(`  ${line}`);
    const { figures, failures } = await row.run({ size, random: seededRandom(seed).next, say });
    for (const [name, value] of Object.entries(figures)) console.log(`  ${name}: ${value}`);
    for (const line of failures) console.log(`  FAILED ${line}`);
    if (failures.length > 0) failed += 1;
  } catch (error) {
    console.log(`  FAILED ${error instanceof Error ? error.stack : error}`);
    failed += 1;
  }
  console.log(`  ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}
const passed = rows.length - failed - skipped;
console.log(`\n${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
