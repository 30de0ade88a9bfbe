import { serveThread } from "../../dist/thread-server.js";

/** For the tests of threads: says what it was sent, in how many works so far; fails and ends where it is told to. */
let works = 0;
serveThread(async () => (work) => {
  works++;
  if (work === "crash") process.exit(1);
  if (work === "fail") throw new Error("that cannot be done");
  return `${work} ${works}`;
});
