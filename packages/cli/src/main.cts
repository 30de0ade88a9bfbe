#!/usr/bin/env node
// Threads of libuv's pool, on which files are read, written and synced. It takes its size when it is used first, and Node 20 uses it to
// read a main that is an ES module: so this one is CommonJS, and `dist/main.js` a link to it. The figures are in docs/decisions/0098.
process.env.UV_THREADPOOL_SIZE ||= "64";

// All that it loads, bundled by `bundle.mjs`: a process starts in half of the time that the modules take one by one.
const bundled: string = "./bundle/start.js";
void import(bundled);
