import { setFlagsFromString } from "node:v8";

// By default V8 lets the heap become four times what lives before it looks for garbage: some 40 MiB more after an import of
// 100,000 objects. The figures are in docs/decisions/0065.
setFlagsFromString("--heap-growing-percent=150");
// After an import V8 puts small objects of later requests into the old generation at once, because those of long bodies lived
// long. A dead one there keeps its whole request until the next full collection: 1 MB of each 11 MB, GraphQL 10 to 40 % more expensive.
setFlagsFromString("--no-allocation-site-pretenuring");

await import("./command.js");
