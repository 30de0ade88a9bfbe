#!/usr/bin/env node
// Node opens the modules that it comes upon as many at once as there are. Part after part, a process that may open few
// files gets as far as saying so.
await import("@shoal/model");
await import("@shoal/service-runtime");
await import("./command.js");
