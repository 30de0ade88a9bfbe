import { HttpClient } from "../http-client.js";
import type { ClusterMember } from "./cluster-member.js";
import { RoundRobinBalancer } from "./round-robin-balancer.js";

/** Gateways with the same settings, behind a balancer. */
export class GatewayGroup implements AsyncDisposable {
  /** Every request goes to another gateway. */
  readonly http: HttpClient;

  private constructor(
    readonly members: readonly ClusterMember[],
    readonly balancer: RoundRobinBalancer,
  ) {
    this.http = new HttpClient(balancer.url);
  }

  static async behindBalancer(members: readonly ClusterMember[]): Promise<GatewayGroup> {
    return new GatewayGroup(members, await RoundRobinBalancer.listen(members.map(({ url }) => url)));
  }

  get url(): string {
    return this.balancer.url;
  }

  /** Waits until every one that runs is ready, and the balancer has seen it. */
  async ready(): Promise<void> {
    const running = this.members.filter((one) => one.running);
    await Promise.all(running.map((one) => one.ready()));
    await this.balancer.ready(running.map(({ url }) => url));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.balancer[Symbol.asyncDispose]();
    for (const member of this.members) await member[Symbol.asyncDispose]();
  }
}
