import type { HttpClient } from "../http-client.js";
import type { Profile, ScenarioFile } from "../scenarios/scenario-file.js";
import { emptySchema, type ScenarioServer, type ScenarioServers, settingsKey } from "../scenarios/scenario-servers.js";
import { Cluster } from "./cluster.js";
import type { GatewayGroup } from "./gateway-group.js";

const GATEWAYS = 2;
const STORAGE_NODES = 3;
/** What coordinators or storage nodes read. Everything else that scenarios set is read by gateways alone. */
const NOT_OF_GATEWAYS = /^(SCHEMA_|(OBJECT_BYTES|LIKE_PATTERN_CHARS)_MAX$)/;

/**
 * Clusters of two gateways, three storage nodes and an etcd, behind balancers. Files with settings get gateways with those
 * beside the others, on the same cluster, unless other processes read them, too.
 */
export class ClusterScenarios implements ScenarioServers {
  readonly isCluster = true;
  #cluster: Cluster | undefined;
  #clusterKey: string | undefined;
  #gateways: GatewayGroup | undefined;
  #gatewaysKey: string | undefined;

  constructor(readonly profile: Profile) {}

  canRun(): boolean {
    return true;
  }

  /** Those that need a cluster of their own come last. */
  keyOf(file: ScenarioFile): string {
    return `${clusterKey(file)} ${settingsKey(file)}`;
  }

  async open(file: ScenarioFile): Promise<ScenarioServer> {
    if (this.#cluster === undefined || this.#clusterKey !== clusterKey(file)) {
      await this[Symbol.asyncDispose]();
      const settings = clusterKey(file) === "" ? {} : file.settings;
      this.#cluster = await Cluster.start({
        storageNodes: STORAGE_NODES,
        env: { WIRE_PROFILE: this.profile, ...settings },
      });
      this.#clusterKey = clusterKey(file);
    }
    // The gateways that came with the cluster keep nobody out.
    await emptySchema(this.#cluster.http);
    if (clusterKey(file) !== "" || (file.settings === undefined && file["own-server"] !== true)) {
      return asServer(this.#cluster);
    }
    if (this.#gateways === undefined || this.#gatewaysKey !== settingsKey(file)) {
      await this.#gateways?.[Symbol.asyncDispose]();
      this.#gateways = await this.#cluster.addGateways(GATEWAYS, file.settings ?? {});
      this.#gatewaysKey = settingsKey(file);
    }
    return asServer(this.#gateways);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = undefined;
    this.#gateways = undefined;
    this.#gatewaysKey = undefined;
    await cluster?.[Symbol.asyncDispose]();
  }
}

function asServer({ url, http }: { readonly url: string; readonly http: HttpClient }): ScenarioServer {
  return { url, http, hostname: "<matches ^http://127\\.0\\.0\\.1:\\d+$>", storageNodes: STORAGE_NODES };
}

/** Equal for files that share a cluster. */
function clusterKey({ settings = {} }: ScenarioFile): string {
  return Object.keys(settings).some((name) => NOT_OF_GATEWAYS.test(name)) ? JSON.stringify(settings) : "";
}
