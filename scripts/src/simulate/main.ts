import { parseArgs } from "node:util";
import { type SimulationOptions, shrink, simulate, WRONG_VARIANTS } from "@shoal/replication/simulation";

const USAGE = `npm run simulate -- [--seeds N] [--seed FIRST] [--wrong VARIANT] [--replay]

Runs clusters of copies of shards in virtual time, each with the faults of its seed, and checks that nothing acknowledged is
lost and no answer is wrong. Closes with "N passed, N failed"; of what fails it prints the fewest faults that make it fail.

  --seeds N       how many (default 1000)
  --seed FIRST    the first one (default: drawn, and printed)
  --replay        print everything that happens under one seed, with the fewest faults if it fails
  --wrong VARIANT build it wrong in one way: the seeds end at the first that finds it. Variants:
${WRONG_VARIANTS.map((variant) => `                    ${variant}`).join("\n")}`;

function main(): number {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "1000" },
      seed: { type: "string" },
      wrong: { type: "string" },
      replay: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const wrong = WRONG_VARIANTS.find((variant) => variant === values.wrong);
  if (values.wrong !== undefined && wrong === undefined) return refuse(`--wrong '${values.wrong}' is no variant`);
  const seeds = wholeNumber(values.seeds);
  const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber(values.seed);
  if (seeds === undefined || seeds === 0) return refuse(`--seeds '${values.seeds}' is no number above 0`);
  if (first === undefined) return refuse(`--seed '${values.seed}' is no number from 0 to 4294967295`);
  return values.replay ? replay({ seed: first, wrong }) : run(first, seeds, wrong);
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

function wholeNumber(text: string): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && number < 2 ** 32 ? number : undefined;
}

function refuse(message: string): number {
  console.error(`shoal: ${message}; --help says more`);
  return 1;
}

process.exitCode = main();
