// npm test: installs, builds and runs every test that needs no other software. Last line: `N passed, N failed`.
import "./node-version.mjs";

import("./set-up.mjs").then(async ({ root, setUp }) => {
  await setUp("all");
  const { runTests } = await import("./run-tests.mjs");
  process.exitCode = await runTests(root, process.argv.slice(2));
});
