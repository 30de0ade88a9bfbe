// npm run dev: serves as `npm start` does, compiles TypeScript whenever it changes, and starts again with what came of it: the modules
// as they are compiled, which need no bundle. C++ and the console's page are built once, at the beginning.
import "./node-version.mjs";
import { spawn } from "node:child_process";

import("./set-up.mjs").then(async ({ root, setUp }) => {
  await setUp("serve");
  const compiler = [`${root}/node_modules/typescript/bin/tsc`, "-b", "-w", "--preserveWatchOutput", "packages/cli"];
  const server = [
    "--watch",
    "--watch-preserve-output",
    `${root}/packages/cli/dist/start.js`,
    "serve",
    ...process.argv.slice(2),
  ];
  // As main.cts has it.
  const env = { ...process.env, UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE || "64" };
  const children = [compiler, server].map((args) =>
    spawn(process.execPath, args, { cwd: root, stdio: "inherit", env }),
  );
  const stop = () => {
    for (const child of children) child.kill("SIGTERM");
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
  for (const child of children) child.on("exit", stop);
});
