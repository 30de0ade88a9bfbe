import { createServer } from "node:net";

/** Below the ports that outgoing connections take: a process that is started again finds its own still free. */
const RANGE = { from: 15_000, count: 15_000 } as const;
const TRIES_MAX = 10_000;

/** So many ports on the loopback address that nobody listens on. */
export async function freePorts(count: number, random: (below: number) => number): Promise<readonly number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count && tries < TRIES_MAX; tries++) {
    const port = RANGE.from + random(RANGE.count);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: "127.0.0.1", port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
