// npm run fuzz -- rest|graphql [--seconds 600] [--stall-ms 200] [--seed N]: drives every operation of the served OpenAPI
// document, or asks what the served GraphQL schema allows, with valid and with broken requests, against a server process
// of its own.
import { newSeed } from "../random-objects.js";
import { readFuzzArguments } from "./fuzz-arguments.js";
import { fuzzGraphql } from "./fuzz-graphql.js";
import { fuzzRest } from "./fuzz-rest.js";

const FUZZERS = { rest: fuzzRest, graphql: fuzzGraphql };

const read = readFuzzArguments(process.argv.slice(2));
if (read === undefined) {
  console.error("usage: npm run fuzz -- rest|graphql [--seconds 600] [--stall-ms 200] [--seed N]");
  process.exit(1);
}
const seed = read.seed ?? newSeed();
console.log(`seed ${seed}, ${read.seconds} s`);
const { figures, checks } = await FUZZERS[read.target](seed, read, (line) => console.log(line));
for (const [name, value] of Object.entries(figures)) console.log(`  ${name}: ${value}`);
let failed = 0;
for (const [name, failures] of checks) {
  if (failures.length > 0) failed++;
  console.log(`${failures.length === 0 ? "passed" : "FAILED"} ${name}`);
  for (const line of failures) console.log(`  ${line}`);
}
console.log(`${checks.size - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
