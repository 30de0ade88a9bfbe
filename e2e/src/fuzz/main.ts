// npm run fuzz -- rest|graphql [--seconds 600] [--stall-ms 200] [--seed N]: drives every operation of the served OpenAPI
// document, or asks what the served GraphQL schema allows, with valid and with broken requests, against a server process
// of its own.
import { newSeed } from "../random-objects.js";
import { readFuzzArguments } from "./fuzz-arguments.js";
import { fuzzGraphql } from "./fuzz-graphql.js";
import { fuzzRest } from "./fuzz-rest.js";
import { fuzzRoles } from "./fuzz-roles.js";

/** Each with its part of the time. */
const FUZZERS = {
  rest: [
    { title: "", part: 4 / 5, fuzz: fuzzRest },
    { title: "with roles: ", part: 1 / 5, fuzz: fuzzRoles },
  ],
  graphql: [{ title: "", part: 1, fuzz: fuzzGraphql }],
} as const;

const read = readFuzzArguments(process.argv.slice(2));
if (read === undefined) {
  console.error("usage: npm run fuzz -- rest|graphql [--seconds 600] [--stall-ms 200] [--seed N]");
  process.exit(1);
}
const seed = read.seed ?? newSeed();
console.log(`seed ${seed}, ${read.seconds} s`);
let failed = 0;
let passed = 0;
for (const { title, part, fuzz } of FUZZERS[read.target]) {
  const seconds = Math.max(1, Math.round(read.seconds * part));
  const { figures, checks } = await fuzz(seed, { ...read, seconds }, (line) => console.log(line));
  for (const [name, value] of Object.entries(figures)) console.log(`  ${title}${name}: ${value}`);
  for (const [name, failures] of checks) {
    if (failures.length > 0) failed++;
    else passed++;
    console.log(`${failures.length === 0 ? "passed" : "FAILED"} ${title}${name}`);
    for (const line of failures) console.log(`  ${line}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
