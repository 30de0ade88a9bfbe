import { openConnections, runClosedLoop } from "./closed-loop.js";
import type { Load, LoadCommand, LoadEvent } from "./load.js";
import type { WorkloadModule } from "./workload.js";

// The load generator, a process of its own so that its work is not counted. Started by `LoadRun` (../load-run.ts).

const tell = (event: LoadEvent) => process.send?.(event);
/** The last word; the process ends when it is out. */
const end = (event: LoadEvent) => process.send?.(event, () => process.exit(event.type === "failed" ? 1 : 0));

function command(expected: LoadCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    process.once("message", (received) => (received === expected ? resolve() : reject(new Error(`got ${received}`))));
  });
}

async function main(): Promise<void> {
  const load = JSON.parse(process.argv[2] ?? "") as Load;
  const module = (await import(`../workloads/${load.workload}.js`)) as WorkloadModule<unknown>;
  const url = new URL(load.url);
  const workload = await module.prepare(url, load.parameters);
  const connections = await openConnections(url, load.connections);

  const warmUp = command("warmUp");
  tell({ type: "ready" });
  await warmUp;
  const unlimited = { secondsMax: load.secondsMax, requestsPerSecond: null };
  const warm = await runClosedLoop(connections, workload, 0, workload.warmUpRequests, unlimited);
  if (warm.faults > 0) throw new Error(`warm-up: ${warm.faultsShown.join("; ")}`);

  const run = command("run");
  tell({ type: "warm" });
  await run;
  const { warmUpRequests, requests } = workload;
  const report = await runClosedLoop(connections, workload, warmUpRequests, warmUpRequests + requests, load);
  for (const connection of connections) connection[Symbol.dispose]();
  end({ type: "done", report, recall: workload.recall?.() ?? null });
}

process.on("disconnect", () => process.exit(1));
main().catch((thrown: unknown) => {
  end({ type: "failed", message: thrown instanceof Error ? thrown.message : String(thrown) });
});
