import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { InFlight, type Share } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";

/**
 * Requests on one connection that may wait behind others of it. More are what floods are made of. Of the body of a request
 * that waits, node:http holds what one read of the connection brings; then it stops reading.
 */
export const PIPELINED_MAX = 64;

/** Requests behind a refused one that are left alone before the connection is cut: node:http goes on reading them. */
export const IGNORED_MAX = 1_000;

/**
 * What becomes of a request. `taken`: it is its turn. `waits`: for the responses before its own, see {@link whenResponding}.
 * `refused`: too many wait; it gets the last response of its connection. `ignored`: it came after that one and is not looked
 * at; closing the connection tells the client so. `cut`: even those are too many.
 */
export type PipelineAdmission = "taken" | "waits" | "refused" | "ignored" | "cut";

/**
 * Calls `work` when the responses before this one are complete, so that requests of one connection take effect in the order in
 * which they were sent. Never when the connection breaks before.
 */
export function whenResponding(response: ServerResponse, work: () => void): void {
  // A response gets the connection when the one before it has been handed over. It is in the middle of that here.
  response.once("socket", () =>
    process.nextTick(() => {
      if (!response.destroyed) work();
    }),
  );
}

/** Of 64 bits, as providers give them to one customer. */
const IPV6_GROUPS = 4;

/**
 * What Node keeps of a socket: bytes of the write under way that the system has not taken yet. It has no public name. With TLS the
 * socket that was accepted knows: the encrypted one says 0, and counts a write when all of it has left.
 */
interface Writing {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/** A client's connection, and for whom it takes steps and bytes. */
export class Connection {
  /** On what requests come and answers go: with TLS another one than was accepted. */
  stream: Socket;
  /** Its place among those that are open. */
  place = 0;
  /** Requests that have not been answered completely. */
  requests = 0;
  /** It was chosen to make room for others, and is being closed. */
  givesWay = false;
  /** Grows with each connection that comes, and with each request that ends. */
  idleSince: number;
  #share: Share | undefined;
  #principal: Principal | undefined;
  /** Of the last tick; undefined: nothing waited to be taken. */
  #unsent: { readonly sent: number; readonly queued: number } | undefined;
  #silentTicks = 0;
  /** Responses that wait for those before them; made when there is one. */
  #waiting: Set<ServerResponse> | undefined;
  /** Requests after the one that was refused; undefined while none was. */
  #ignored: number | undefined;

  constructor(
    readonly socket: Socket,
    readonly address: string,
    /** Of all that there ever were. */
    readonly number: number,
  ) {
    this.idleSince = number;
    this.stream = socket;
  }

  /** A second or so has passed. Ticks in a row, each of them whole, in which the client took nothing of a response that waited for it. */
  tick(): number {
    const { stream } = this;
    const before = this.#unsent;
    if (stream.writableLength === 0) {
      this.#unsent = undefined;
      this.#silentTicks = 0;
      return 0;
    }
    const sent = stream.bytesWritten - stream.writableLength;
    const queued = (this.socket as Writing)._handle?.writeQueueSize ?? 0;
    const isSilent = before !== undefined && before.sent === sent && before.queued === queued;
    this.#silentTicks = isSilent ? this.#silentTicks + 1 : 0;
    if (!isSilent) this.#unsent = { sent, queued };
    return this.#silentTicks;
  }

  /**
   * Requests that were sent without waiting for the responses before theirs: node:http hands them over all at once.
   * When the connection breaks, the responses that wait are closed: node:http tells only the first one, and the others would
   * be in flight for ever.
   */
  admit(request: IncomingMessage, response: ServerResponse): PipelineAdmission {
    // Only the first response of a pipeline has the connection.
    if (response.socket !== null) return "taken";
    if (request.socket.destroyed) return "ignored";
    if (this.#ignored !== undefined) return ++this.#ignored > IGNORED_MAX ? "cut" : "ignored";
    const waiting = this.#waiting ?? this.#pipeline(request.socket);
    const isFull = waiting.size >= PIPELINED_MAX;
    if (isFull) this.#ignored = 0;
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
    return isFull ? "refused" : "waits";
  }

  #pipeline(socket: Socket): Set<ServerResponse> {
    const waiting = new Set<ServerResponse>();
    this.#waiting = waiting;
    socket.once("close", () => {
      for (const response of waiting) {
        response.destroy();
        response.emit("close");
      }
    });
    return waiting;
  }

  /** Who has a name shares with himself, on whatever connection; who has none with his address. */
  shareOf(principal: Principal | undefined): Share {
    if (this.#share !== undefined && this.#principal === principal) return this.#share;
    this.#principal = principal;
    this.#share = { owner: ownerOf(principal, this.address), connection: this.number };
    return this.#share;
  }
}

function ownerOf(principal: Principal | undefined, address: string): string {
  if (principal === undefined || principal.userType === "anonymous") return `address ${address}`;
  return `${principal.userType} ${principal.username}`;
}

/** What log lines and metrics say of a share: never the name itself. */
export function shareKind({ owner }: Share): "address" | "user" {
  return owner.startsWith("address ") ? "address" : "user";
}

/** The address that a client is known by: without the prefix of IPv4 in IPv6, and of IPv6 the network. */
export function clientAddress(address: string | undefined): string {
  if (address === undefined) return "";
  const [bare = ""] = address.split("%");
  if (bare.includes(".")) return bare.slice(bare.lastIndexOf(":") + 1);
  const [left = "", right] = bare.split("::");
  const head = left === "" ? [] : left.split(":");
  const tail = right === undefined || right === "" ? [] : right.split(":");
  const zeros = new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, IPV6_GROUPS).join(":");
}

/** Where a socket keeps what is known of it: faster than a Map for every request. */
const CONNECTION = Symbol("connection");

type KnownSocket = Socket & { [CONNECTION]?: Connection };

/** A part of the most that there may be. When fewer are left, idle connections make room. */
const RESERVE = 1 / 8;

/** So many of them are chosen together: choosing looks at all connections. */
const CHOSEN_TOGETHER = 1 / 16;

/** Of those, so many are closed for each newcomer: closing one takes a tenth of a millisecond. */
const CLOSED_FOR_EACH = 2;

/** A connection that is to be closed, if it is still as idle as it was when it was chosen. */
interface Chosen {
  readonly connection: Connection;
  readonly idleSince: number;
}

/** The connections of an HTTP server, and which of them are closed when there are nearly too many. */
export class Connections {
  /** Connections that were closed to make room. */
  closedIdle = 0;
  readonly #connectionsMax: number;
  readonly #crowded: number;
  readonly #open = new InFlight<Connection>();
  /** The next one last. */
  #chosen: Chosen[] = [];
  /** Of the open ones, those that are being closed for others. */
  #givingWay = 0;
  #events = 0;

  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    this.#crowded = connectionsMax - Math.max(1, Math.floor(connectionsMax * RESERVE));
  }

  get size(): number {
    return this.#open.size;
  }

  /** A new connection. How many idle ones were closed for it. */
  add(socket: Socket): number {
    const connection = this.of(socket);
    let closed = 0;
    while (this.size - this.#givingWay > this.#crowded && closed < CLOSED_FOR_EACH && this.#closeOne(connection))
      closed++;
    this.closedIdle += closed;
    return closed;
  }

  of(socket: Socket): Connection {
    const known = (socket as KnownSocket)[CONNECTION];
    if (known !== undefined) return known;
    const connection = new Connection(socket, clientAddress(socket.remoteAddress), ++this.#events);
    (socket as KnownSocket)[CONNECTION] = connection;
    connection.place = this.#open.add(connection);
    socket.once("close", () => {
      this.#open.remove(connection.place);
      if (connection.givesWay) this.#givingWay--;
    });
    return connection;
  }

  /** `secure` is what TLS makes of a connection: the same one. */
  secured(secure: Socket, carrier: Socket): void {
    const connection = this.of(carrier);
    connection.stream = secure;
    (secure as KnownSocket)[CONNECTION] = connection;
  }

  begin(connection: Connection): void {
    connection.requests++;
  }

  end(connection: Connection): void {
    connection.requests--;
    connection.idleSince = ++this.#events;
  }

  /**
   * A second or so has passed: cuts clients that have taken nothing of their responses in so many ticks, whatever they send
   * meanwhile. How many. A handler at work has nothing to be taken.
   */
  cutStalled(ticksMax: number): number {
    let cut = 0;
    for (const [, connection] of this.#open) {
      if (connection.requests === 0 || connection.tick() < ticksMax) continue;
      connection.stream.destroy();
      cut++;
    }
    return cut;
  }

  /** Closes an idle connection; false when there is none. */
  #closeOne(newcomer: Connection): boolean {
    let isNewChoice = false;
    for (;;) {
      const next = this.#chosen.pop();
      if (next === undefined) {
        if (isNewChoice) return false;
        this.#chosen = this.#choose(Math.ceil(this.#connectionsMax * CHOSEN_TOGETHER), newcomer);
        isNewChoice = true;
      } else if (isStillIdle(next)) {
        next.connection.givesWay = true;
        this.#givingWay++;
        next.connection.socket.destroy();
        return true;
      }
    }
  }

  /**
   * Idle connections to be closed: of the address that has most of them the one that has been idle longest, and so on. What
   * somebody works for, or has just come, stays.
   */
  #choose(count: number, newcomer: Connection): Chosen[] {
    const byAddress = new Map<string, Connection[]>();
    for (const [, connection] of this.#open) {
      if (connection.requests > 0 || connection === newcomer || connection.socket.destroyed) continue;
      const beside = byAddress.get(connection.address);
      if (beside === undefined) byAddress.set(connection.address, [connection]);
      else beside.push(connection);
    }
    for (const idle of byAddress.values()) idle.sort(newestFirst);
    const chosen: Chosen[] = [];
    while (chosen.length < count) {
      let most: Connection[] = [];
      for (const idle of byAddress.values()) if (idle.length > most.length) most = idle;
      const longest = most.pop();
      if (longest === undefined) break;
      chosen.push({ connection: longest, idleSince: longest.idleSince });
    }
    return chosen.reverse();
  }
}

function isStillIdle({ connection, idleSince }: Chosen): boolean {
  return connection.requests === 0 && connection.idleSince === idleSince && !connection.socket.destroyed;
}

function newestFirst(one: Connection, other: Connection): number {
  return other.idleSince - one.idleSince;
}
