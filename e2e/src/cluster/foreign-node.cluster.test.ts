import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cleanEnvironment, freePort, SERVER_MAIN } from "../server-process.js";
import { type RunEnvironment, StartedProcess } from "../started-process.js";
import { type Cluster, withCluster } from "./cluster.js";

/** Longer than a process waits before it asks again whether it may have a name. */
const ASKED_AGAIN_MS = 15_000;

/** A storage node without credentials that calls itself as another one does, on a folder of its own. */
class Stranger extends StartedProcess {
  readonly name = "the stranger";
  readonly readyUrl: string;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #dataPath = mkdtempSync(join(tmpdir(), "shoal-stranger-"));
  #output = "";

  constructor(cluster: Cluster, nodeName: string, internalPort: number) {
    super();
    this.readyUrl = `http://127.0.0.1:${internalPort}/ready`;
    this.#settings = {
      CLUSTER_HOSTNAME: nodeName,
      COORDINATOR_ADDRESSES: cluster.coordinators.map(({ plan }) => plan.rpcAddress).join(),
      INTERNAL_PORT: "0",
      METRICS_PORT: String(internalPort),
      PERSISTENCE_DATA_PATH: this.#dataPath,
    };
  }

  logTail(): string {
    return this.#output;
  }

  /** What its `/ready` says. */
  async said(): Promise<string> {
    const answer = await fetch(this.readyUrl).catch(() => undefined);
    return answer === undefined ? "" : `${answer.status} ${await answer.text()}`;
  }

  protected begin(env: RunEnvironment): ChildProcess {
    const child = spawn(process.execPath, [SERVER_MAIN, "storage-node"], {
      env: { ...cleanEnvironment(), ...this.#settings, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        this.#output += chunk;
      });
    }
    return child;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    rmSync(this.#dataPath, { recursive: true, force: true });
  }
}

it("S6: the name of a storage node is not given to a stranger, whether it runs or is away", async () => {
  await withCluster({ gateways: 1, storageNodes: 1, etcdMembers: 0 }, async (cluster) => {
    const node = cluster.member("storage-0");
    await using stranger = new Stranger(cluster, "storage-0", await freePort());
    stranger.spawn();
    await expect.poll(() => stranger.said(), { timeout: 60_000 }).toMatch(/^503 .*'storage-0' is alive at/);
    const put = (name: string) =>
      cluster.http.post("/v1/objects", { class: "Thing", properties: { name }, vector: [1, 2] });
    expect((await cluster.http.post("/v1/schema", { class: "Thing" })).status).toBe(200);
    const first = await put("first");
    expect(first.status, first.text).toBe(200);

    await node.stop();
    await expect
      .poll(() => stranger.said(), { timeout: ASKED_AGAIN_MS })
      .toMatch(/'storage-0' has another data folder/);
    const whileAway = await put("second");
    expect(whileAway.status, whileAway.text).toBe(503);

    await node.launch();
    await expect.poll(async () => (await put("third")).status, { timeout: 30_000 }).toBe(200);
    const answer = await cluster.http.graphql("{ Aggregate { Thing { meta { count } } } }");
    expect(answer.text).toContain('"count":2');
    expect(await stranger.said()).toMatch(/^503/);
    expect(stranger.running).toBe(true);

    // Restarts and moves of the node itself go on as before.
    await node.kill();
    const moved = String(await freePort());
    await node.launch({ INTERNAL_PORT: moved, INTERNAL_ADVERTISED_ADDRESS: `127.0.0.1:${moved}` });
    await expect.poll(async () => (await put("fourth")).status, { timeout: 30_000 }).toBe(200);
  });
});
