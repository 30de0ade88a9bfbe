#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

// By default V8 lets the heap become four times what lives before it looks for garbage: some 40 MiB more after an import of
// 100,000 objects. `packages/DECISIONS.md` has the figures.
setFlagsFromString("--heap-growing-percent=150");

// Node opens the modules that it comes upon as many at once as there are. Part after part, a process that may open few
// files gets as far as saying so.
await import("@shoal/model");
await import("@shoal/service-runtime");
await import("./command.js");
