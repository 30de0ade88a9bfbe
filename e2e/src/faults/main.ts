// npm run faults -- [R1 R3 …] [--on process|cluster] [--short] [--seed N]: runs the named rows (all without names) and prints
// their figures.
import { seededRandom } from "@shoal/seeded-random";
import { newSeed } from "../random-objects.js";
import { readFaultArguments } from "./fault-arguments.js";
import { FAULT_ROWS } from "./rows.js";

const read = readFaultArguments(process.argv.slice(2));
if (read === undefined) {
  const ids = [...new Set(FAULT_ROWS.map((row) => row.id))].join(" ");
  console.error(`usage: npm run faults -- [${ids}] [--on process|cluster] [--short] [--seed N]`);
  process.exit(1);
}
const { rows, size } = read;
const seed = read.seed ?? newSeed();

let failed = 0;
console.log(`seed ${seed}`);
for (const row of rows) {
  const needs = row.needs.length === 0 ? "" : ` (needs ${row.needs.join(", ")})`;
  console.log(`\n${row.id} ${row.title}, ${size}${row.on === undefined ? "" : `, on a ${row.on}`}${needs}`);
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
console.log(`\n${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
