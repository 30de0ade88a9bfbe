import { parseArgs } from "node:util";
import { ShoalError } from "@shoal/model";
import { WRONG_VARIANTS, type WrongVariant } from "@shoal/replication/simulation";

export const USAGE = `npm run simulate -- [--seeds N] [--seed FIRST] [--wrong VARIANT] [--replay]

Runs clusters of copies of shards in virtual time, each with the faults of its seed, and checks that nothing acknowledged is
lost and no answer is wrong. Closes with "N passed, N failed"; of what fails it prints the fewest faults that make it fail.

  --seeds N       how many (default 1000)
  --seed FIRST    the first one (default: drawn, and printed)
  --replay        print everything that happens under one seed, with the fewest faults if it fails
  --wrong VARIANT build it wrong in one way: the seeds end at the first that finds it. Variants:
${WRONG_VARIANTS.map((variant) => `                    ${variant}`).join("\n")}`;

/** Seeds are numbers of 32 bits. */
const SEED_END = 2 ** 32;
const SEEDS_DEFAULT = 1_000;

export interface SimulateArguments {
  readonly seeds: number;
  /** Undefined: one is drawn. */
  readonly first: number | undefined;
  readonly wrong: WrongVariant | undefined;
  readonly isReplay: boolean;
  readonly isHelp: boolean;
}

/** Errors: `invalid` for an unknown option or a value that is none. */
export function parseArguments(args: readonly string[]): SimulateArguments {
  const { seeds: seedsText, seed, wrong: wanted, replay = false, help = false } = parse(args);
  const wrong = WRONG_VARIANTS.find((variant) => variant === wanted);
  if (wanted !== undefined && wrong === undefined) throw new ShoalError("invalid", `--wrong '${wanted}' is no variant`);
  const first = seed === undefined ? undefined : wholeNumber("--seed", seed, 0, SEED_END - 1);
  const seeds =
    seedsText === undefined ? SEEDS_DEFAULT : wholeNumber("--seeds", seedsText, 1, SEED_END - (first ?? 2 ** 31));
  return { seeds, first, wrong, isReplay: replay, isHelp: help };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string" },
        seed: { type: "string" },
        wrong: { type: "string" },
        replay: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (cause) {
    throw new ShoalError("invalid", cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new ShoalError("invalid", `${option} '${text}' is no whole number from ${least} to ${most}`);
}
