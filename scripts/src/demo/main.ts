import { gloveWords } from "@shoal/data-sets";
import { ShoalError } from "@shoal/model";
import { ShoalServer } from "../bench/shoal-server.js";
import { runDemo } from "./demo.js";
import { Terminal } from "./terminal.js";

async function main(): Promise<void> {
  const terminal = new Terminal(process.stdout, (process.env.NO_COLOR ?? "") !== "");
  terminal.line(terminal.style("bold", "\nShoal demo: GloVe word vectors, from nothing"));
  // Converted on the first use of all, which takes a moment.
  await gloveWords({ count: 1 });
  const start = performance.now();
  await using server = await ShoalServer.start();
  const milliseconds = Math.round(performance.now() - start);
  terminal.line(`  server ready in ${milliseconds} ms on ${server.url.href}, with an empty data folder of its own`);
  try {
    await runDemo(server.url, terminal);
  } catch (thrown) {
    throw new ShoalError("internal", `${ShoalError.from(thrown).message}\n${server.log()}`, { cause: thrown });
  }
  terminal.line(terminal.style("dim", "\nStopping the server and removing its data. Now try `npm start`.\n"));
}

// Leaving ends the server and removes its folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
main().catch((thrown: unknown) => {
  console.error(`shoal demo: ${ShoalError.from(thrown).message.trimEnd()}`);
  process.exitCode = 1;
});
