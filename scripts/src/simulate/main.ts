import { ShoalError } from "@shoal/model";
import { type SimulationOptions, shrink, simulate } from "@shoal/replication/simulation";
import { parseArguments, USAGE } from "./arguments.js";

function main(): number {
  const { seeds, first, wrong, isReplay, isHelp } = parseArguments(process.argv.slice(2));
  if (isHelp) {
    console.log(USAGE);
    return 0;
  }
  const seed = first ?? Math.floor(Math.random() * 2 ** 31);
  return isReplay ? replay({ seed, wrong }) : run(seed, seeds, wrong);
}

function run(first: number, seeds: number, wrong: SimulationOptions["wrong"]): number {
  const started = process.hrtime.bigint();
  let passed = 0;
  let failed = 0;
  let acknowledged = 0;
  for (let seed = first; seed < first + seeds; seed++) {
    const result = simulate({ seed, wrong });
    acknowledged += result.acknowledged;
    if (result.failure === undefined) {
      passed++;
      continue;
    }
    failed++;
    const smallest = shrink({ seed, wrong });
    console.log(`seed ${seed}: ${result.failure}`);
    for (const fault of smallest.options.faults ?? []) console.log(`  ${smallest.result.faults[fault]}`);
    if (wrong !== undefined) break;
  }
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  const rate = ((passed + failed) / seconds).toFixed(1);
  console.log(
    `seeds ${first} to ${first + passed + failed - 1}: ${rate} a second, ${acknowledged} commits acknowledged`,
  );
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function replay(options: SimulationOptions): number {
  const { options: smallest } = shrink(options);
  const { failure, faults } = simulate({ ...smallest, trace: (line) => console.log(line) });
  for (const [at, fault] of faults.entries()) {
    if (smallest.faults?.includes(at)) console.log(`fault ${fault}`);
  }
  console.log(failure === undefined ? "1 passed, 0 failed" : `${failure}\n0 passed, 1 failed`);
  return failure === undefined ? 0 : 1;
}

try {
  process.exitCode = main();
} catch (thrown) {
  if (!(thrown instanceof ShoalError)) throw thrown;
  console.error(`shoal: ${thrown.message}; --help says more`);
  process.exitCode = 1;
}
