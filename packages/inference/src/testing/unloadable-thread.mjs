import { serveThread } from "../../dist/thread-server.js";

/** For the tests of threads: what it needs is missing. */
serveThread(async () => {
  throw new Error("no such package");
});
