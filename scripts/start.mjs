// npm start: installs and builds what serving needs, then is the server (in this process, so signals need no detour).
import "./node-version.mjs";

// Older Nodes have read this file on libuv's pool of threads, which has its size from then on: that of `npm start`, or libuv's own.
if (Number.parseInt(process.versions.node, 10) < 24) process.env.UV_THREADPOOL_SIZE ||= "4";

import("./set-up.mjs").then(async ({ root, setUp }) => {
  await setUp("serve");
  process.argv = [process.argv[0], `${root}/packages/cli/dist/main.js`, "serve", ...process.argv.slice(2)];
  await import("../packages/cli/dist/main.js");
});
