import { existsSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildImage,
  configurationOf,
  makeLocalBases,
  mountImage,
  nodeOfDockerfile,
  startInImage,
} from "./image-builder.js";

const TARGETS = ["serve", "gateway", "storage-node", "coordinator", "contextionary"] as const;
const PORTS: Readonly<Record<(typeof TARGETS)[number], readonly string[]>> = {
  serve: ["8080/tcp", "9100/tcp"],
  gateway: ["8080/tcp", "9100/tcp"],
  "storage-node": ["7101/tcp", "9100/tcp"],
  coordinator: ["7100/tcp", "9100/tcp"],
  contextionary: ["9100/tcp", "9999/tcp"],
};

const images = new Map<string, string>();
beforeAll(() => {
  makeLocalBases();
  for (const target of TARGETS) images.set(target, buildImage(target));
});

const imageOf = (target: string): string => images.get(target) ?? "";

/** Without the vectors of words, which are data. */
function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith("wink-embeddings-"))
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? bytesBelow(path) : entry.isFile() ? statSync(path).size : 0;
    })
    .reduce((sum, size) => sum + size, 0);
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

describe.each(TARGETS)("the image of target %s", (target) => {
  it("runs as nobody in particular, listens where others reach it, and is asked whether it lives", () => {
    const configuration = configurationOf(imageOf(target));
    expect(configuration).toMatchObject({
      User: "65532:65532",
      Cmd: [target],
      Entrypoint: ["/usr/local/bin/node", "/app/packages/cli/dist/main.js"],
      StopSignal: "SIGTERM",
      Healthcheck: { Test: ["CMD", "/usr/local/bin/node", "/app/probe.mjs", "/live"] },
      Volumes: { "/var/lib/shoal": {} },
    });
    expect(Object.keys(configuration.ExposedPorts).sort()).toEqual(PORTS[target]);
  });
});

describe("what is in the images", () => {
  let mounted: ReturnType<typeof mountImage>;
  beforeAll(() => {
    mounted = mountImage(imageOf("serve"));
  });
  afterAll(() => mounted?.[Symbol.dispose]());

  it("S11: keeps the data to its owner, as volumes will that are made of it", () => {
    const { mode, uid, gid } = statSync(join(mounted.folder, "var", "lib", "shoal"));
    expect({ mode: mode & 0o777, uid, gid }).toEqual({ mode: 0o700, uid: 65532, gid: 65532 });
  });

  it("is what runs, and nothing to build or test with", () => {
    const packages = readdirSync(join(mounted.folder, "app", "node_modules", ".pnpm"));
    expect(packages.some((name) => name.startsWith("rocksdb@"))).toBe(true);
    expect(packages.filter((name) => /^(typescript|vitest|vite|@biomejs|playwright|esbuild)\b/.test(name))).toEqual([]);
    expect(existsSync(join(mounted.folder, "src"))).toBe(false);
    const bytes = bytesBelow(join(mounted.folder, "app"));
    console.log(`/app: ${Math.round(bytes / 2 ** 20)} MiB`);
    expect(bytes).toBeLessThan(150 * 2 ** 20);
  });

  it("S9: is the Node that the Dockerfile names", async () => {
    const image = { ...configurationOf(imageOf("serve")), Entrypoint: ["/usr/local/bin/node", "--version"] };
    const command = startInImage(mounted.folder, image, [], {});
    expect(await command.ended, command.output()).toBe(0);
    expect(command.output()).toMatch(new RegExp(`^v${nodeOfDockerfile()}\\.`));
  });

  it("serves from a read-only root without privileges, answers its health check, and ends in an orderly way", async () => {
    const server = await start("serve", {});
    expect(await probe(server, "/live")).toBe(0);
    expect(await probe(server, "/nothing")).toBe(1);
    await end(server);
    expect(await probe(server, "/live")).toBe(1);
  });

  it("is a cluster as well, one process a container", async () => {
    const [coordinatorPort, nodePort] = [await freePort(), await freePort()];
    const coordinator = await start("coordinator", { INTERNAL_PORT: coordinatorPort });
    const others = { COORDINATOR_ADDRESSES: `127.0.0.1:${coordinatorPort}` };
    const node = await start("storage-node", { ...others, CLUSTER_HOSTNAME: "node-1", INTERNAL_PORT: nodePort });
    const gateway = await start("gateway", others);
    for (const process of [gateway, node, coordinator]) await end(process);
  });

  it("makes certificates where Compose lets it write them", async () => {
    const args = ["cluster", "certs", "--out=/var/lib/shoal", "--name", "node-1:storage-node:node-1"];
    const command = startInImage(mounted.folder, configurationOf(imageOf("serve")), args, {});
    expect(await command.ended, command.output()).toBe(0);
    expect(command.output()).toContain("/var/lib/shoal/node-1/ca.pem cert.pem key.pem");
  });

  interface Started {
    readonly process: ReturnType<typeof startInImage>;
    readonly environment: Readonly<Record<string, string>>;
  }

  /** Starts a role from its image on this machine alone, and waits until it is ready. */
  async function start(role: (typeof TARGETS)[number], own: Readonly<Record<string, string>>): Promise<Started> {
    const addresses = { HOST: "127.0.0.1", PORT: "0", INTERNAL_HOST: "127.0.0.1", METRICS_HOST: "127.0.0.1" };
    const environment = { ...addresses, METRICS_PORT: await freePort(), ...own };
    const configuration = configurationOf(imageOf(role));
    const started = {
      process: startInImage(mounted.folder, configuration, configuration.Cmd, environment),
      environment,
    };
    const why = (): string => `${role}: ${started.process.output()}`;
    await expect.poll(() => probe(started, "/ready"), { timeout: 30_000, message: why() }).toBe(0);
    return started;
  }

  /** The image's health check, asking for another path. */
  function probe({ environment }: Started, path: string): Promise<number | null> {
    const configuration = configurationOf(imageOf("serve"));
    const [, ...command] = configuration.Healthcheck.Test;
    const asking = { ...configuration, Entrypoint: [...command.slice(0, -1), path] };
    return startInImage(mounted.folder, asking, [], environment).ended;
  }

  async function end({ process }: Started): Promise<void> {
    process.child.kill("SIGTERM");
    expect(await process.ended, process.output()).toBe(0);
  }
});
