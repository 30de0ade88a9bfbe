import { HttpClient } from "../http-client.js";
import { ClusterProcess, type ProcessPlan } from "./cluster-process.js";

export type Role = "gateway" | "storage-node" | "coordinator";

export interface MemberPlan extends ProcessPlan {
  readonly role: Role;
  /** Origin of its public port (gateways alone have one) or else of its internal one. */
  readonly url: string;
  /** Origin of its internal HTTP port: metrics and probes. */
  readonly internalUrl: string;
  /** `host:port` of its gRPC, of those that serve others. */
  readonly rpcAddress: string | undefined;
  readonly dataPath: string;
}

/** One process of ours. */
export class ClusterMember extends ClusterProcess {
  readonly http: HttpClient;

  constructor(override readonly plan: MemberPlan) {
    super(plan);
    this.http = new HttpClient(plan.url);
  }

  get role(): Role {
    return this.plan.role;
  }

  get url(): string {
    return this.plan.url;
  }

  get dataPath(): string {
    return this.plan.dataPath;
  }

  /** The sum of a metric over its labels; undefined when it is not there. */
  async metric(name: string): Promise<number | undefined> {
    const answer = await fetch(`${this.plan.internalUrl}/metrics`, { signal: AbortSignal.timeout(5_000) });
    const values = (await answer.text())
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }
}
