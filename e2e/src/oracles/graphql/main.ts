// npm run oracle -- [--target process|cluster] [--queries 10000] [--seed N] [--kinds get,filter]: random GraphQL queries over
// random objects against a plain loop over all of them, on a server process or a cluster of its own.
import { startOracleCluster } from "../../cluster/cluster-oracle.js";
import { newSeed } from "../../random-objects.js";
import { readOracleArguments, USAGE } from "./oracle-arguments.js";
import { startOneProcess } from "./oracle-server.js";
import { runOracle } from "./run-oracle.js";

const FINDINGS_MAX = 10;

const read = readOracleArguments(process.argv.slice(2));
if (read === undefined) {
  console.error(USAGE);
  process.exit(1);
}
const seed = read.seed ?? newSeed();
console.log(`seed ${seed}, ${read.queries} queries`);
const { asked, undecided, worlds, findings } = await runOracle({
  ...read,
  seed,
  findingsMax: FINDINGS_MAX,
  start: read.target === "cluster" ? startOracleCluster : startOneProcess,
  say: (line) => console.log(line),
});
for (const [kind, count] of asked) console.log(`  ${kind}: ${count}`);
console.log(`  ${worlds} schemas; ${undecided} questions that a rounding decides were left out`);
const failed = findings.length > 0 ? 1 : 0;
console.log(`${1 - failed} passed, ${failed} failed`);
process.exitCode = failed;
