// npm start: installs and builds what serving needs, then is the server (in this process, so signals need no detour).
import "./node-version.mjs";

import("./set-up.mjs").then(async ({ root, setUp }) => {
  await setUp("serve");
  process.argv = [process.argv[0], `${root}/packages/cli/dist/main.js`, "serve", ...process.argv.slice(2)];
  await import("../packages/cli/dist/main.js");
});
