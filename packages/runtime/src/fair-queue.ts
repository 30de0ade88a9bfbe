import type { Share } from "./request-context.js";

interface Waiting<Item> {
  readonly share: Share;
  readonly item: Item;
  readonly cost: number;
  /** The order of arrival. */
  readonly number: number;
}

/**
 * What waits of one owner or of one connection. `begin` is its start time in start-time fair queueing (Goyal, Vin and
 * Cheng, 1996): what it has been served so far, counted from when it was last as far as the others. The lowest one is
 * next, and of equal ones the one that waits longest.
 */
class Lane<Content> {
  begin: number;
  /** Of its first item. */
  oldest = 0;

  constructor(
    begin: number,
    readonly content: Content,
  ) {
    this.begin = begin;
  }
}

/** Lanes side by side, and how far the ones that are served have come. */
class Lanes<Key, Content> {
  readonly #lanes = new Map<Key, Lane<Content>>();
  readonly #make: () => Content;
  readonly #isEmpty: (content: Content) => boolean;
  #clock = 0;

  constructor(make: () => Content, isEmpty: (content: Content) => boolean) {
    this.#make = make;
    this.#isEmpty = isEmpty;
  }

  get(key: Key): Lane<Content> | undefined {
    return this.#lanes.get(key);
  }

  [Symbol.iterator](): Iterator<Lane<Content>> {
    return this.#lanes.values();
  }

  /** The lane of whoever begins to wait, or waits already. It has no credit for the time in which it wanted nothing. */
  enter(key: Key, number: number): Lane<Content> {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#forgetPast();
      lane = new Lane(this.#clock, this.#make());
      this.#lanes.set(key, lane);
    }
    if (this.#isEmpty(lane.content)) {
      lane.begin = Math.max(lane.begin, this.#clock);
      lane.oldest = number;
    }
    return lane;
  }

  first(): Lane<Content> | undefined {
    let first: Lane<Content> | undefined;
    for (const lane of this.#lanes.values()) {
      if (this.#isEmpty(lane.content)) continue;
      const isFirst =
        first === undefined || lane.begin < first.begin || (lane.begin === first.begin && lane.oldest < first.oldest);
      if (isFirst) first = lane;
    }
    return first;
  }

  serve(lane: Lane<Content>, cost: number): void {
    this.#clock = lane.begin;
    lane.begin += cost;
  }

  /** A lane is remembered while it is ahead of the others: else whoever asks again and again would be first each time. */
  #forgetPast(): void {
    for (const [key, lane] of this.#lanes) {
      if (lane.begin <= this.#clock && this.#isEmpty(lane.content)) this.#lanes.delete(key);
    }
  }
}

interface Owned<Item> {
  readonly connections: Lanes<number, Waiting<Item>[]>;
  /** Items of all of them. */
  size: number;
}

/**
 * Hands out what waits: to owners in equal parts of cost, to the connections of an owner in equal parts of his, and to
 * a connection in the order of arrival. While two owners have something waiting, what they have been served differs by
 * no more than their two most costly items.
 */
export class FairQueue<Item> {
  #owners = newOwners<Item>();
  #size = 0;
  #number = 0;

  get size(): number {
    return this.#size;
  }

  add(share: Share, item: Item, cost = 1): void {
    const number = ++this.#number;
    const owner = this.#owners.enter(share.owner, number);
    const connection = owner.content.connections.enter(share.connection, number);
    connection.content.push({ share, item, cost, number });
    owner.content.size++;
    this.#size++;
  }

  /** What {@link take} would give. */
  peek(): Item | undefined {
    return this.#owners.first()?.content.connections.first()?.content[0]?.item;
  }

  /** Removes the next item. */
  take(): Item | undefined {
    const owner = this.#owners.first();
    const connection = owner?.content.connections.first();
    const next = connection?.content.shift();
    if (owner === undefined || connection === undefined || next === undefined) return undefined;
    this.#owners.serve(owner, next.cost);
    owner.content.connections.serve(connection, next.cost);
    connection.oldest = connection.content[0]?.number ?? 0;
    this.#removed(owner, next.number);
    return next.item;
  }

  /** Whether it waited. It has cost nothing then. */
  remove({ owner, connection }: Share, item: Item): boolean {
    const owned = this.#owners.get(owner);
    const lane = owned?.content.connections.get(connection);
    const at = lane?.content.findIndex((waiting) => waiting.item === item) ?? -1;
    if (owned === undefined || lane === undefined || at === -1) return false;
    const [removed] = lane.content.splice(at, 1);
    lane.oldest = lane.content[0]?.number ?? 0;
    this.#removed(owned, removed?.number ?? 0);
    return true;
  }

  /** Whether something waits, and all of it is of this connection. */
  isOnlyOf({ owner, connection }: Share): boolean {
    const own = this.#owners.get(owner)?.content.connections.get(connection)?.content.length ?? 0;
    return own > 0 && own === this.#size;
  }

  /**
   * Removes what came last of the owner that has most waiting, when `share` has less waiting than that one; else of the connection
   * of its own owner that has most, when its own has less.
   */
  displace(share: Share): Item | undefined {
    const last = this.#lastOfLargestOwner(share) ?? this.#lastOfLargestConnection(share);
    if (last === undefined) return undefined;
    this.remove(last.share, last.item);
    return last.item;
  }

  #lastOfLargestOwner({ owner }: Share): Waiting<Item> | undefined {
    const own = this.#owners.get(owner)?.content.size ?? 0;
    let most: Lane<Owned<Item>> | undefined;
    for (const lane of this.#owners) {
      if (lane.content.size > Math.max(own + 1, most?.content.size ?? 0)) most = lane;
    }
    if (most === undefined) return undefined;
    let last: Waiting<Item> | undefined;
    for (const { content } of most.content.connections) {
      const newest = content.at(-1);
      if (newest !== undefined && newest.number > (last?.number ?? 0)) last = newest;
    }
    return last;
  }

  #lastOfLargestConnection({ owner, connection }: Share): Waiting<Item> | undefined {
    const connections = this.#owners.get(owner)?.content.connections;
    if (connections === undefined) return undefined;
    const own = connections.get(connection)?.content.length ?? 0;
    let most: readonly Waiting<Item>[] = [];
    for (const { content } of connections) {
      if (content.length > Math.max(own + 1, most.length)) most = content;
    }
    return most.at(-1);
  }

  #removed(owner: Lane<Owned<Item>>, number: number): void {
    owner.content.size--;
    this.#size--;
    if (number === owner.oldest) {
      let oldest = Number.POSITIVE_INFINITY;
      for (const { content } of owner.content.connections) oldest = Math.min(oldest, content[0]?.number ?? oldest);
      owner.oldest = oldest;
    }
    // Nobody waits: nobody has to wait for what others were served before.
    if (this.#size === 0) this.#owners = newOwners<Item>();
  }
}

function newOwners<Item>(): Lanes<string, Owned<Item>> {
  return new Lanes<string, Owned<Item>>(
    () => ({
      connections: new Lanes(
        (): Waiting<Item>[] => [],
        (items) => items.length === 0,
      ),
      size: 0,
    }),
    ({ size }) => size === 0,
  );
}
