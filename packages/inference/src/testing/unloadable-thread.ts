import { serveThread } from "../thread-server.js";

/** For the tests of threads: what it needs is missing. */
serveThread<string, string>(async () => {
  throw new Error("no such package");
});
