import { randomInt } from "node:crypto";
import { resolve } from "node:path";
import { ShoalError } from "@shoal/model";
import {
  configurationFileSource,
  EXIT_FAILURE,
  EXIT_FORCED,
  EXIT_OK,
  environmentSource,
  readConfiguration,
  refuseMisspelledVariables,
} from "@shoal/service-runtime";
import { makeCertificates } from "./cluster-certificates.js";
import { readClusterFile } from "./cluster-file.js";
import { type ClusterPlan, planCluster, portsNeeded, SHOAL } from "./cluster-plan.js";
import { freePorts } from "./free-ports.js";
import { RunningCluster } from "./running-cluster.js";

/** Beside the drain itself: snapshots are written and stores closed. */
const STOP_MARGIN_MS = 60_000;
/** How often it is looked whether certificates run out; the processes read new ones without a restart. */
const CERTIFICATES_MS = 86_400_000;

async function main(): Promise<void> {
  refuseMisspelledVariables(process.env);
  const options = process.argv.slice(2);
  const configuration = await configurationOf(options);
  const dataPath = resolve(configuration.dataPath);
  const wish = {
    dataPath,
    gateways: count("CLUSTER_GATEWAYS", 2),
    storageNodes: count("CLUSTER_NODES", 3),
    environment: process.env,
    options,
  };
  await refuseSecondCluster(dataPath);
  const startedMs = performance.now();
  const plan = planCluster(wish, await freePorts(portsNeeded(wish), randomInt));
  renewCertificates(plan);
  const { host, port, drainDelaySeconds, drainTimeoutSeconds } = configuration;
  const cluster = new RunningCluster({
    plan,
    dataPath,
    host,
    port,
    connectionsMax: configuration.connectionsMax,
    stopTimeoutMs: (drainDelaySeconds + drainTimeoutSeconds) * 1000 + STOP_MARGIN_MS,
    write: (text) => process.stderr.write(text),
  });
  const stopping = new AbortController();
  const stopRequested = new Promise<void>((done) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (stopping.signal.aborted) {
          cluster.kill();
          process.exit(EXIT_FORCED);
        }
        stopping.abort();
        done();
      });
    }
  });
  process.on("exit", () => cluster.kill());
  try {
    const taken = await cluster.start(stopping.signal);
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${taken}`;
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    if (!stopping.signal.aborted) {
      process.stdout.write(
        `Shoal is serving on ${url}: ${wish.gateways} gateways, ${wish.storageNodes} storage nodes, a coordinator with ` +
          `${plan.store}; ready in ${seconds} s (Ctrl-C stops all)\n` +
          `  processes and logs: ${dataPath}/cluster.json, ${dataPath}/logs\n` +
          (plan.certificates === undefined ? "" : `  certificates (mutual TLS): ${plan.certificates.folder}\n`),
      );
    }
    await stopRequested;
  } catch (thrown) {
    await cluster.stop();
    throw thrown;
  }
  process.exit((await cluster.stop()) ? EXIT_OK : EXIT_FAILURE);
}

/** Before the processes start, and daily while they run. */
function renewCertificates({ certificates }: ClusterPlan): void {
  if (certificates === undefined) return;
  const { folder, processes } = certificates;
  const renew = (): boolean => makeCertificates(folder, processes, [process.execPath, SHOAL], Date.now());
  renew();
  const tell = (thrown: unknown): void => void process.stderr.write(`shoal: ${ShoalError.from(thrown).message}\n`);
  setInterval(() => {
    try {
      if (renew()) process.stderr.write(`shoal: the certificates in ${folder} were renewed\n`);
    } catch (thrown) {
      tell(thrown);
    }
  }, CERTIFICATES_MS).unref();
}

async function configurationOf(options: readonly string[]) {
  const [option, path, ...rest] = options;
  const isKnown = option === undefined || (option === "--config-file" && path !== undefined && rest.length === 0);
  if (!isKnown) {
    throw new ShoalError("invalid", `npm run cluster takes --config-file <path> only, got ${options.join(" ")}`);
  }
  const sources = [
    environmentSource(process.env),
    ...(path === undefined ? [] : [await configurationFileSource(path)]),
  ];
  return readConfiguration(sources, () => undefined);
}

function count(variable: string, fallback: number): number {
  const text = process.env[variable] ?? "";
  if (text === "") return fallback;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new ShoalError("invalid", `${variable} must be a whole number from 1 to 99, got ${JSON.stringify(text)}`);
}

/** Two clusters on one folder would take each other's data. */
async function refuseSecondCluster(dataPath: string): Promise<void> {
  for (const { name, pid, address } of readClusterFile(dataPath)) {
    if (!isAlive(pid)) continue;
    const answers = await fetch(address, { signal: AbortSignal.timeout(1_000) }).then(
      () => true,
      () => false,
    );
    if (!answers) continue;
    throw new ShoalError("invalid", `the cluster in '${dataPath}' runs already: ${name} (process ${pid}) answers`);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

main().catch((thrown: unknown) => {
  console.error(`shoal: ${ShoalError.from(thrown).message.trimEnd()}`);
  process.exit(EXIT_FAILURE);
});
