import { parseArgs } from "node:util";
import { gloveWords } from "@shoal/data-sets";
import { ShoalError } from "@shoal/model";
import { BENCH_SETS } from "../bench/bench-class.js";
import { ShoalServer } from "../bench/shoal-server.js";
import { runDemo } from "./demo.js";
import { NEWS_CLASSES, runNewsDemo } from "./news.js";
import { Terminal } from "./terminal.js";

/** A demo: its classes must not exist on a server that runs already, and are deleted in the end. */
interface Demo {
  readonly title: string;
  readonly classes: readonly string[];
  readonly run: (url: URL, terminal: Terminal) => Promise<void>;
}

const WORDS: Demo = {
  title: "GloVe word vectors, from nothing",
  classes: [BENCH_SETS.glove.className],
  run: runDemo,
};
const NEWS: Demo = { title: "news of 1987, by meaning", classes: NEWS_CLASSES, run: runNewsDemo };

const USAGE = `npm run demo [-- [news] [--target URL]]

Imports 50,000 words into a server of its own, or into the one at URL; then asks for neighbours and compares with brute force.
news: imports articles, whose vectors are made of their text, finds them by meaning and classifies those without a topic.
The classes (${WORDS.classes.join(", ")}; ${NEWS.classes.join(", ")}) must not exist on the server at URL; they are deleted in the end.`;

async function main(): Promise<void> {
  const wanted = readArguments(process.argv.slice(2));
  if (wanted === "help") return console.log(USAGE);
  const { demo, target } = wanted;
  const terminal = new Terminal(process.stdout, (process.env.NO_COLOR ?? "") !== "");
  terminal.line(terminal.style("bold", `\nShoal demo: ${demo.title}`));
  // Converted on the first use of all, which takes a moment.
  if (demo === WORDS) await gloveWords({ count: 1 });
  if (target === undefined) await onOwnServer(demo, terminal);
  else await onTarget(demo, target, terminal);
}

async function onOwnServer(demo: Demo, terminal: Terminal): Promise<void> {
  const start = performance.now();
  await using server = await ShoalServer.start();
  const milliseconds = Math.round(performance.now() - start);
  terminal.line(`  server ready in ${milliseconds} ms on ${server.url.href}, with an empty data folder of its own`);
  try {
    await demo.run(server.url, terminal);
  } catch (thrown) {
    throw new ShoalError("internal", `${ShoalError.from(thrown).message}\n${server.log()}`, { cause: thrown });
  }
  terminal.line(terminal.style("dim", "\nStopping the server and removing its data. Now try `npm start`.\n"));
}

async function onTarget(demo: Demo, url: URL, terminal: Terminal): Promise<void> {
  terminal.line(`  on ${url.href}`);
  const schemas = demo.classes.map((name) => new URL(`/v1/schema/${name}`, url));
  for (const schema of schemas) {
    const found = await fetch(schema).catch((cause: Error) => {
      throw new ShoalError("unavailable", `cannot reach ${url.host}: ${cause.message}`, { cause });
    });
    if (found.status === 404) continue;
    const name = schema.pathname.split("/").at(-1);
    throw new ShoalError("conflict", `${url.host} has a class ${name} already, or does not show: ${found.status}`);
  }
  try {
    await demo.run(url, terminal);
  } finally {
    for (const schema of schemas) await fetch(schema, { method: "DELETE" }).catch(() => undefined);
  }
  terminal.line(terminal.style("dim", `\nDeleted again: ${demo.classes.join(", ")}.\n`));
}

function readArguments(args: readonly string[]): { readonly demo: Demo; readonly target: URL | undefined } | "help" {
  const options = { target: { type: "string" }, help: { type: "boolean" } } as const;
  let read: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    read = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new ShoalError("invalid", cause instanceof Error ? cause.message : String(cause), { cause });
  }
  const { values, positionals } = read;
  if (values.help === true) return "help";
  const [name, ...others] = positionals;
  if (others.length > 0 || (name !== undefined && name !== "news")) {
    throw new ShoalError(
      "invalid",
      `there is no demo '${positionals.join(" ")}'; there are news, and the one without a name`,
    );
  }
  const demo = name === "news" ? NEWS : WORDS;
  if (values.target === undefined) return { demo, target: undefined };
  const target = URL.canParse(values.target) ? new URL(values.target) : undefined;
  if (target?.protocol !== "http:")
    throw new ShoalError("invalid", `--target: '${values.target}' is no http:// address`);
  return { demo, target };
}

// Leaving ends the server and removes its folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
main().catch((thrown: unknown) => {
  console.error(`shoal demo: ${ShoalError.from(thrown).message.trimEnd()}`);
  process.exitCode = 1;
});
