// npm run faults -- [R1 R3 …] [--short] [--seed N]: runs the named rows (all without names) and prints their figures.
import { seededRandom } from "@shoal/data-sets";
import { newSeed } from "../random-objects.js";
import { FAULT_ROWS } from "./rows.js";

const words = process.argv.slice(2);
const size = words.includes("--short") ? "short" : "long";
const seedAt = words.indexOf("--seed");
const seed = seedAt < 0 ? newSeed() : Number(words[seedAt + 1]);
const named = words.filter((word, i) => !word.startsWith("--") && (seedAt < 0 || i !== seedAt + 1));
const unknown = [
  ...named.filter((id) => !FAULT_ROWS.some((row) => row.id === id)),
  ...words.filter((word) => word.startsWith("--") && !["--short", "--seed"].includes(word)),
];
if (unknown.length > 0 || !Number.isSafeInteger(seed)) {
  console.error(`usage: npm run faults -- [${FAULT_ROWS.map((row) => row.id).join(" ")}] [--short] [--seed N]`);
  process.exit(1);
}

let failed = 0;
const rows = named.length === 0 ? FAULT_ROWS : FAULT_ROWS.filter((row) => named.includes(row.id));
console.log(`seed ${seed}`);
for (const row of rows) {
  const needs = row.needs.length === 0 ? "" : ` (needs ${row.needs.join(", ")})`;
  console.log(`\n${row.id} ${row.title}, ${size}${needs}`);
  const begun = performance.now();
  try {
    const say = (line: string): void => console.log(`  ${line}`);
    const { figures, failures } = await row.run({ size, random: seededRandom(seed), say });
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
