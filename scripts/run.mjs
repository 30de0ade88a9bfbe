// npm run cluster | demo | bench | faults | fuzz | oracle | simulate | request-path | third-party | build: sets up what the
// command needs, then runs it in this process.
import "./node-version.mjs";

const COMMANDS = {
  cluster: { scope: "scripts", main: "scripts/dist/cluster/main.js" },
  demo: { scope: "scripts", main: "scripts/dist/demo/main.js" },
  bench: { scope: "scripts", main: "scripts/dist/bench/main.js" },
  fuzz: { scope: "e2e", main: "e2e/dist/fuzz/main.js" },
  oracle: { scope: "e2e", main: "e2e/dist/oracles/graphql/main.js" },
  "request-path": { scope: "scripts", main: "scripts/dist/request-path/main.js" },
  simulate: { scope: "scripts", main: "scripts/dist/simulate/main.js" },
  "third-party": { scope: "scripts", main: "scripts/dist/third-party/main.js" },
  faults: { scope: "e2e", main: "e2e/dist/faults/main.js" },
  build: { scope: "all", main: undefined },
};

const [name = "", ...rest] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, name)) {
  console.error(`shoal: usage: node scripts/run.mjs ${Object.keys(COMMANDS).join("|")} [arguments]`);
  process.exit(1);
}

import("./set-up.mjs").then(async ({ root, setUp }) => {
  const command = COMMANDS[name];
  await setUp(command.scope);
  if (command.main === undefined) return;
  process.argv = [process.argv[0], `${root}/${command.main}`, ...rest];
  await import(new URL(`../${command.main}`, import.meta.url).href);
});
