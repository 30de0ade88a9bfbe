import { ShoalError } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { readConfiguration } from "./configuration.js";
import { readConfigurationText } from "./configuration-text.js";
import { environmentSource } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_261_120);

const TEXTS = ["text", "json", "spec", "weaviate", "info", "none", "true", "off", "https://a.b/c", "a, b ,c", "~", "5"];

/** Values that most settings refuse and some take; the file reads each one as the variable with the same text. */
function someValue({ below, pick }: SeededRandom): string | number | boolean {
  const kind = below(5);
  if (kind === 0) return below(2) === 0;
  if (kind === 1) return pick([0, 1, 25, 60, 8192, 65_536, 1_048_576, 2_000_000_000]);
  return pick(TEXTS);
}

/** Of all settings, on average: with more of them hardly any configuration would be valid. */
const SETTINGS_CHOSEN = 6;

function nest(values: ReadonlyMap<string, unknown>): object {
  const root: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const names = key.split(".");
    const last = names.pop() ?? "";
    let at = root;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return root;
}

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof ShoalError)) throw thrown;
    // Where it stands and how it is written differ; the rule does not.
    return /(must be|no authentication|oidc init|subject|neither|demands).*?(?=, got|:|$)/
      .exec(thrown.message)?.[0]
      .replace(/at most .*/, "at most");
  }
}

it(`a file says what variables with the same texts say (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  let accepted = 0;
  for (let round = 0; round < 3_000; round++) {
    const chosen = SETTINGS.filter(() => random.below(SETTINGS.length) < SETTINGS_CHOSEN);
    const values = new Map(
      chosen.map((one) => {
        // Mostly a value that the setting takes, so that whole configurations come through too.
        const { fallback } = one;
        const own = typeof fallback === "string" || typeof fallback === "number" || typeof fallback === "boolean";
        return [one, own && fallback !== "" && random.below(4) > 0 ? fallback : someValue(random)] as const;
      }),
    );
    const environment = environmentSource(
      Object.fromEntries([...values].map(([one, value]) => [one.variable, String(value)])),
    );
    const tree = nest(new Map([...values].map(([one, value]) => [one.key, value])));
    const text = random.below(2) === 0 ? JSON.stringify(tree) : stringify(tree);
    const file = readConfigurationText(text, "f");
    const fromFile = outcome(() => readConfiguration([({ key }) => file.get(key)], () => {}));
    const fromVariables = outcome(() => readConfiguration([environment], () => {}));
    // Only text settings tell a number or a truth value from its text: a file must quote it.
    const isMistyped = typeof fromFile === "string" && fromFile !== fromVariables;
    if (isMistyped)
      expect(fromFile, text).toMatch(/must be (text|texts|a host name|host names|origins|an absolute|one of)/);
    else expect(fromFile, text).toEqual(fromVariables);
    if (typeof fromFile === "object") accepted++;
  }
  expect(accepted).toBeGreaterThan(300);
});

const PIECES = [
  ..."{}[]:,-?&*!|>%@#\"' \t\n\\",
  ": ",
  "- ",
  "\n  ",
  "*a ",
  "&a ",
  "!!str ",
  "---\n",
  "<<: ",
  "\0",
  "\uFEFF",
];

it(`whatever stands in a file: it is read, or refused in one line (seed ${SEED})`, () => {
  const random = seededRandom(SEED + 1);
  const keys = SETTINGS.flatMap(({ key }) => key.split("."));
  const good = stringify(nest(new Map(SETTINGS.map(({ key }) => [key, someValue(random)]))));
  let refused = 0;
  for (let round = 0; round < 5_000; round++) {
    let text = random.below(3) === 0 ? "" : good.slice(random.below(good.length), random.below(good.length) + 100);
    for (let i = random.below(12); i >= 0; i--) {
      const at = random.below(text.length + 1);
      const piece = random.below(3) === 0 ? `${random.pick(keys)}: ` : random.pick(PIECES);
      text = text.slice(0, at) + piece.repeat(1 + random.below(3)) + text.slice(at + random.below(3));
    }
    try {
      readConfigurationText(text, "f.yaml");
    } catch (thrown) {
      if (!(thrown instanceof ShoalError)) throw new Error(`${JSON.stringify(text)} gave ${thrown}`);
      refused++;
      expect(thrown.code).toBe("invalid");
      expect(thrown.message, text).toMatch(/^[^\p{Cc}]{1,700}$/u);
    }
  }
  expect(refused).toBeGreaterThan(1_000);
});
