import { expect, it } from "vitest";
import { ServerProcess } from "../server-process.js";
import { StallWatch } from "./stall-watch.js";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it("notices a server that stands still, and names what was under way then", async () => {
  await using server = await ServerProcess.start();
  using watch = new StallWatch(server, 200, ({ from, to }) => [`a request of ${to - from > 1_000}`]);
  await pause(500);
  server.signal("SIGSTOP");
  await pause(2_000);
  server.signal("SIGCONT");
  await expect.poll(() => watch.stalls.filter((stall) => stall.includes("a request of true"))).toHaveLength(1);
  expect(watch.slowest).toMatch(/^\d{4} ms; of those over 200 ms at most \d{4} ms its own$/);
});
