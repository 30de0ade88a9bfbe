import { ShoalError } from "@shoal/model";
import { nodeOf, type ShardConfiguration } from "@shoal/replication";
import {
  type AnyShardMethod,
  type ClassRecord,
  callService,
  deliveryOf,
  type ShardAddress,
  type ShardKey,
  ShardMoved,
  type ShardService,
  shardKeyOf,
  shardOf,
  shardPlaceOf,
  shardServiceBy,
  undelivered,
} from "@shoal/rpc";
import { InnerContext, LateSignal, type RequestContext } from "@shoal/runtime";
import type { NodePool } from "./cluster-nodes.js";
import type { CopiesView } from "./copies-view.js";
import type { RetryOptions } from "./retrying-node.js";
import { ShardOutage } from "./shard-outage.js";
import type { PrimaryQuestion, PrimaryRouter } from "./shard-router.js";

export interface CopyRoutesOptions extends RetryOptions {
  readonly view: CopiesView;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Who may answer: only the primary, or any copy in sync. */
type Asked = "primary" | "anyCopy";

/** A shard with copies. */
interface Route {
  readonly record: ClassRecord;
  readonly shard: ShardAddress;
  readonly key: ShardKey;
  /** While nobody answers for it: for what only the primary may answer, and for what any copy may. */
  readonly outages: { [Who in Asked]: ShardOutage | undefined };
}

interface NodeLoad {
  /** Questions to it that are not answered. */
  underWay: number;
  /** Questions that it has ever answered. */
  responded: number;
  /** When it was asked last, among all questions. */
  turn: number;
}

/** A node that has answered nothing for so long while it was asked counts as silent: another copy is asked as well. */
const SILENCE_MS = 1_000;

/** A coordinator that has not answered by then is not waited for. */
const REFRESH_MS_MAX = 1_000;

/** It is asked no more often, on behalf of all shards: what changes later it sends by itself. */
const REFRESH_PAUSE_MS = 100;

/** More than there are requests under way: a node that is lost comes after all others. */
const LOST_LOAD = 1e9;

/**
 * Finds the nodes of shards that have copies, by their configurations, and asks again where that is safe: see README. What a copy
 * itself answers is passed on as it is, but `moved`.
 */
export class CopyRoutes implements PrimaryRouter {
  /** All shards that have copies, as whoever asks sees them. */
  readonly service: ShardService;
  readonly #pool: NodePool;
  readonly #options: CopyRoutesOptions;
  readonly #routes = new WeakMap<ShardAddress, Route>();
  /** Those for which requests wait. */
  readonly #waitedFor = new Map<ShardKey, Route>();
  readonly #loads = new Map<string, NodeLoad>();
  #refreshed: Promise<void> = Promise.resolve();
  #refreshMs = Number.NEGATIVE_INFINITY;
  #version = 0;
  #turn = 0;

  constructor(pool: NodePool, options: CopyRoutesOptions) {
    this.#pool = pool;
    this.#options = options;
    this.service = shardServiceBy((method, args, context) => this.#carry(method, args, context));
    options.view.onChange((keys) => this.#onChange(keys));
  }

  get version(): number {
    return this.#version;
  }

  /** `shard` has copies. */
  add(record: ClassRecord, shard: ShardAddress): void {
    this.#routes.set(shard, {
      record,
      shard,
      key: shardKeyOf(shard),
      outages: { primary: undefined, anyCopy: undefined },
    });
  }

  has(shard: ShardAddress): boolean {
    return this.#routes.has(shard);
  }

  isLost(shard: ShardAddress): boolean {
    const route = this.#routes.get(shard);
    return route !== undefined && this.#pool.isLost(nodeOf(this.#configurationOf(route).primary));
  }

  primaryOf(shard: ShardAddress): ShardService | undefined {
    const route = this.#routes.get(shard);
    return route && this.#nodeOf(route, nodeOf(this.#configurationOf(route).primary));
  }

  askPrimary<T>(shard: ShardAddress, question: PrimaryQuestion<T>, context: RequestContext): Promise<T> {
    const route = this.#routes.get(shard);
    if (route === undefined) return Promise.reject(new ShoalError("internal", `${shardPlaceOf(shard)} has no copies`));
    return this.#responseOf(route, "primary", question, context);
  }

  learn(key: ShardKey, refusal: ShoalError): void {
    if (refusal instanceof ShardMoved && refusal.configuration) this.#options.view.learn(key, refusal.configuration);
  }

  async #carry(method: AnyShardMethod, args: readonly unknown[], context: RequestContext): Promise<unknown> {
    const route = this.#routes.get(shardOf(method, args) as ShardAddress);
    if (route === undefined) throw new ShoalError("internal", `${method.name} is not about a shard that has copies`);
    const { items } = method;
    const question: PrimaryQuestion<unknown> = {
      // A write that was carried out and is sent again would undo what others have written since.
      isRepeatable: () => method.reads !== undefined,
      heldBytes: () => method.heldBytes(...args),
      ask: async (node, inner) => {
        const response = await callService(node, method, args, inner);
        if (items !== undefined) failWhereAllMoved(response as readonly unknown[]);
        return response;
      },
    };
    const asked = context.readsPrimary === true ? "primary" : (method.reads ?? "primary");
    const response = await this.#responseOf(route, asked, question, context);
    return items === undefined
      ? response
      : this.#completed(method, args, items, response as readonly unknown[], context);
  }

  /** Items that were refused because another copy became primary while others were carried out: they are asked for again. */
  async #completed(
    method: AnyShardMethod,
    args: readonly unknown[],
    items: number,
    outcomes: readonly unknown[],
    context: RequestContext,
  ): Promise<readonly unknown[]> {
    if (!outcomes.some(isMoved)) return outcomes;
    const given = args[items] as readonly unknown[];
    const left = [...outcomes.keys()].filter((at) => isMoved(outcomes[at]));
    const again = args.with(
      items,
      left.map((at) => given[at]),
    );
    let later: readonly unknown[];
    try {
      later = (await this.#carry(method, again, context)) as readonly unknown[];
    } catch (thrown) {
      later = left.map(() => ShoalError.from(thrown));
    }
    const byPlace = new Map(left.map((at, i) => [at, later[i]]));
    return outcomes.map((outcome, at) => (byPlace.has(at) ? byPlace.get(at) : outcome));
  }

  /** Asks until there is a response; while there is an outage with all others who ask. */
  async #responseOf<T>(route: Route, asked: Asked, question: PrimaryQuestion<T>, context: RequestContext): Promise<T> {
    let failure: ShoalError | undefined;
    let hold: Disposable | undefined;
    try {
      for (;;) {
        const outage = route.outages[asked];
        if (outage !== undefined) {
          hold ??= this.#options.held.hold(question.heldBytes(), nodeOf(this.#configurationOf(route).primary));
          // One that has not asked may do so even late: nobody else may be there to learn that the outage is over.
          const isOver = failure !== undefined && this.#options.nowMs() >= this.#waitEndsMs(outage, context);
          if (isOver || !(await this.#turnOf(route, outage, context))) throw failure ?? this.#unserved(route, asked);
        }
        try {
          const response = await (asked === "primary"
            ? this.#atPrimary(route, question, context)
            : this.#atAnyCopy(route, question, context));
          this.#end(route, asked);
          return response;
        } catch (thrown) {
          const isUnserved = isNotServed(thrown);
          if (!isUnserved && thrown instanceof ShoalError && thrown.code !== "deadlineExceeded")
            this.#end(route, asked);
          if (!isUnserved) throw thrown;
          if (!mayBeAskedAgain(question, thrown)) throw ofUnknownOutcome(thrown);
          // Whatever becomes of it later, it may have been carried out then.
          if (failure === undefined || deliveryOf(failure) !== "unknown") failure = withoutMove(thrown);
          if (context.waitMsMax !== undefined) throw failure;
          this.#isOut(route, asked);
        }
      }
    } finally {
      hold?.[Symbol.dispose]();
    }
  }

  /** At the primary, also at the next one as soon as it is known. */
  async #atPrimary<T>(route: Route, question: PrimaryQuestion<T>, context: RequestContext): Promise<T> {
    const once = new InnerContext(context, { waitMsMax: context.waitMsMax ?? Number.POSITIVE_INFINITY });
    for (;;) {
      const known = this.#configurationOf(route);
      try {
        return await this.#askNode(route, nodeOf(known.primary), question, once);
      } catch (thrown) {
        if (!isMoved(thrown) || !(await this.#isNewer(route, known, thrown, context))) throw thrown;
      }
    }
  }

  /** At one copy in sync after the other, the least busy one first. */
  async #atAnyCopy<T>(route: Route, question: PrimaryQuestion<T>, context: RequestContext): Promise<T> {
    const tried = new Set<string>();
    let known = this.#configurationOf(route);
    let failure: unknown;
    for (;;) {
      const name = this.#leastBusy(route, tried);
      if (name === undefined) {
        if (!isMoved(failure) || !(await this.#isNewer(route, known, failure, context))) throw failure;
        known = this.#configurationOf(route);
        tried.clear();
        continue;
      }
      tried.add(name);
      try {
        return await this.#atCopy(route, name, tried, question, context);
      } catch (thrown) {
        if (!isNotServed(thrown)) throw thrown;
        failure = thrown;
        if (isMoved(thrown)) this.learn(route.key, thrown);
      }
    }
  }

  /** At a copy, and once its node is silent at one other as well: whichever answers first counts. */
  async #atCopy<T>(
    route: Route,
    name: string,
    tried: Set<string>,
    question: PrimaryQuestion<T>,
    context: RequestContext,
  ): Promise<T> {
    const late = new LateSignal(context);
    const inner = new InnerContext(context, { late, waitMsMax: context.waitMsMax ?? Number.POSITIVE_INFINITY });
    try {
      const first = this.#askNode(route, name, question, inner);
      if (this.#leastBusy(route, tried) === undefined) return await first;
      const load = this.#loadOf(name);
      let responded: number;
      do {
        responded = load.responded;
        if (await isSettledWithin(first, SILENCE_MS)) return await first;
      } while (load.responded !== responded);
      const other = this.#leastBusy(route, tried);
      if (other === undefined) return await first;
      tried.add(other);
      const response = firstResponse([first, this.#askNode(route, other, question, inner)]);
      return await response.finally(() => late.abort(new ShoalError("internal", "another copy has answered")));
    } finally {
      late.end();
    }
  }

  async #askNode<T>(route: Route, name: string, question: PrimaryQuestion<T>, context: RequestContext): Promise<T> {
    const load = this.#loadOf(name);
    load.underWay++;
    load.turn = ++this.#turn;
    try {
      const response = await question.ask(this.#nodeOf(route, name), context);
      load.responded++;
      return response;
    } finally {
      load.underWay--;
    }
  }

  #nodeOf(route: Route, name: string): ShardService {
    const node = this.#pool.node(name);
    if (node !== undefined) return node;
    const message = `${shardPlaceOf(route.shard)}: node '${name}' is not known`;
    throw undelivered(new ShoalError("unavailable", message, { retryAfterSeconds: 1 }), "never");
  }

  /** The node of a copy in sync that was not tried, with the fewest questions under way; of several the one that was asked first. */
  #leastBusy(route: Route, tried: ReadonlySet<string>): string | undefined {
    const { inSync } = this.#configurationOf(route);
    let best: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    let earliest = Number.POSITIVE_INFINITY;
    for (const copy of inSync) {
      const name = nodeOf(copy);
      if (tried.has(name)) continue;
      const { underWay, turn } = this.#loadOf(name);
      const load = underWay + (this.#pool.isLost(name) ? LOST_LOAD : 0);
      if (load > least || (load === least && turn >= earliest)) continue;
      best = name;
      least = load;
      earliest = turn;
    }
    return best;
  }

  #loadOf(name: string): NodeLoad {
    const known = this.#loads.get(name);
    if (known !== undefined) return known;
    const load = { underWay: 0, responded: 0, turn: 0 };
    this.#loads.set(name, load);
    return load;
  }

  #configurationOf({ record, shard }: Route): ShardConfiguration {
    const configuration = this.#options.view.configurationOf(record, shard.shardName);
    if (configuration === undefined) throw new ShoalError("internal", `${shardPlaceOf(shard)} has no configuration`);
    return configuration;
  }

  /** Whether another configuration than `known` counts by now: that of the refusal, or the coordinator's. */
  async #isNewer(
    route: Route,
    known: ShardConfiguration,
    refusal: ShoalError,
    context: RequestContext,
  ): Promise<boolean> {
    this.learn(route.key, refusal);
    if (this.#configurationOf(route).version > known.version) return true;
    if (context.waitMsMax !== undefined) return false;
    await this.#refresh();
    return this.#configurationOf(route).version > known.version;
  }

  #refresh(): Promise<void> {
    const now = this.#options.nowMs();
    if (now >= this.#refreshMs + REFRESH_PAUSE_MS) {
      this.#refreshMs = now;
      // When nobody can be asked, what is known stays.
      this.#refreshed = this.#options.view.refresh({ deadline: now + REFRESH_MS_MAX }).catch(() => undefined);
    }
    return this.#refreshed;
  }

  #waitEndsMs({ sinceMs }: ShardOutage, { deadline, waitMsMax }: RequestContext): number {
    return waitMsMax === undefined ? Math.min(sinceMs + this.#options.shardWaitMs, deadline) : 0;
  }

  async #turnOf(route: Route, outage: ShardOutage, context: RequestContext): Promise<boolean> {
    this.#waitedFor.set(route.key, route);
    try {
      return await outage.turn(this.#waitEndsMs(outage, context), context.signal);
    } finally {
      if (!Object.values(route.outages).some((one) => one?.isWaitedFor)) this.#waitedFor.delete(route.key);
    }
  }

  /** One that nobody has asked about for long may be over, and another one have begun. */
  #isOut({ outages }: Route, asked: Asked): void {
    const known = outages[asked];
    const now = this.#options.nowMs();
    if (known !== undefined && now - known.lastMs <= this.#options.shardWaitMs) known.lastMs = now;
    else outages[asked] = new ShardOutage(this.#options);
  }

  #end({ outages }: Route, asked: Asked): void {
    const outage = outages[asked];
    if (outage === undefined) return;
    outages[asked] = undefined;
    outage.end();
  }

  #onChange(keys: readonly ShardKey[]): void {
    this.#version++;
    if (this.#waitedFor.size === 0) return;
    for (const key of keys) {
      const route = this.#waitedFor.get(key);
      if (route !== undefined) for (const outage of Object.values(route.outages)) outage?.askNow();
    }
  }

  #unserved(route: Route, asked: Asked): ShoalError {
    const { primary, inSync } = this.#configurationOf(route);
    const nodes = (asked === "primary" ? [primary] : inSync).map((copy) => `'${nodeOf(copy)}'`).join(", ");
    const who = asked === "primary" ? `its primary, on node ${nodes},` : `none of its copies in sync, on ${nodes},`;
    const message = `${shardPlaceOf(route.shard)}: ${who} ${asked === "primary" ? "does not answer" : "answers"}`;
    return new ShoalError("unavailable", message, { retryAfterSeconds: 1 });
  }
}

/** Whether a copy has refused, so that nothing was done. */
export function isMoved(thrown: unknown): thrown is ShoalError {
  return thrown instanceof ShoalError && thrown.code === "moved";
}

/** Whether this is no response: the copy may not answer, or its node did not. */
export function isNotServed(thrown: unknown): thrown is ShoalError {
  return isMoved(thrown) || (thrown instanceof ShoalError && thrown.code === "unavailable" && isUndelivered(thrown));
}

function isUndelivered(error: ShoalError): boolean {
  return deliveryOf(error) !== undefined;
}

function mayBeAskedAgain({ isRepeatable }: PrimaryQuestion<unknown>, thrown: ShoalError): boolean {
  return deliveryOf(thrown) !== "unknown" || isRepeatable();
}

function ofUnknownOutcome(failure: ShoalError): ShoalError {
  const { message } = failure;
  if (message.includes("may have been carried out")) return failure;
  const text = `${message}; the write may have been carried out`;
  return new ShoalError("unavailable", text, { cause: failure, retryAfterSeconds: 1 });
}

/** For clients, who know of no moves. */
function withoutMove(failure: ShoalError): ShoalError {
  if (!isMoved(failure)) return failure;
  return new ShoalError("unavailable", failure.message, { cause: failure, retryAfterSeconds: 1 });
}

function failWhereAllMoved(outcomes: readonly unknown[]): void {
  const [first] = outcomes;
  if (isMoved(first) && outcomes.every(isMoved)) throw first;
}

function isSettledWithin(response: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    response.then(settled, settled);
  });
}

/** The first that is a response, an error of the shard included; when there is none, why the last one is none. */
async function firstResponse<T>(asked: readonly Promise<T>[]): Promise<T> {
  return new Promise((resolve, reject) => {
    let open = asked.length;
    for (const one of asked) {
      one.then(resolve, (thrown: unknown) => {
        if (--open === 0 || !isNotServed(thrown)) reject(thrown);
      });
    }
  });
}
