import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import type { NodeDirectory, NodeRecord, TlsSource } from "@shoal/rpc";
import { type CoordinatorConnection, connectCoordinator, connectNode } from "@shoal/rpc/grpc";
import { type Configuration, ResourceScope, silentLogger } from "@shoal/service-runtime";
import { followInternalTls } from "../tls-files.js";

const COORDINATOR_MS_MAX = 5_000;
/** A node that has not answered by then is taken for gone. */
const NODE_MS_MAX = 2_000;

/**
 * Has the coordinators remove a storage node, with the settings and the certificate of a gateway. Fails with `conflict`
 * when the node still runs, as it would register again, or has shards; with `notFound` when there is none of that name.
 */
export async function removeNode(name: string, configuration: Configuration, now: () => number): Promise<NodeRecord> {
  await using scope = new ResourceScope();
  const tls = await followInternalTls(configuration, "gateway", silentLogger, scope);
  const coordinator = scope.use(connectCoordinator(configuration.coordinatorAddresses, { now, tls }));
  const context = { deadline: now() + COORDINATOR_MS_MAX };
  // Says why when no coordinator answers.
  await coordinator.schema.current(context);
  const { nodes } = await firstDirectory(coordinator);
  const address = nodes.find((node) => node.name === name)?.address;
  if (address !== undefined && (await responds(name, address, now, tls))) {
    throw new ShoalError(
      "conflict",
      `storage node '${name}' runs at ${address} and would register again: stop its process first`,
    );
  }
  return await coordinator.nodes.remove(name, context);
}

async function firstDirectory({ nodes }: CoordinatorConnection): Promise<NodeDirectory> {
  let subscription: Disposable | undefined;
  const reported = new Promise<NodeDirectory>((resolve) => {
    subscription = nodes.watch(resolve);
  });
  const late = sleep(COORDINATOR_MS_MAX, undefined, { ref: false });
  const directory = await Promise.race([reported, late]);
  subscription?.[Symbol.dispose]();
  if (directory === undefined) throw new ShoalError("unavailable", "the coordinator did not tell its storage nodes");
  return directory;
}

/** Whether the node itself is at its address. */
async function responds(
  name: string,
  address: string,
  now: () => number,
  tls: TlsSource | undefined,
): Promise<boolean> {
  using node = connectNode(name, address, { now, tls, schemaVersion: () => 0 });
  const entered = new Promise<void>((resolve) => node.onState(() => resolve()));
  await Promise.race([entered, sleep(NODE_MS_MAX, undefined, { ref: false })]);
  return node.state === "ready" || node.state === "draining";
}
