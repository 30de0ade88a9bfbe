import type { Socket } from "node:net";
import { InFlight } from "@shoal/runtime";
import { Connection, clientAddress } from "./connection.js";

/** Where a socket keeps what is known of it: faster than a Map for every request. */
const CONNECTION = Symbol("connection");

type KnownSocket = Socket & { [CONNECTION]?: Connection };

/** A part of the most that there may be. When fewer are left, idle connections make room. */
const RESERVE = 1 / 8;

/** So many of them are closed together: choosing looks at all connections. */
const CLOSED_TOGETHER = 1 / 64;

/** The connections of an HTTP server, and which of them are closed when there are nearly too many. */
export class Connections {
  /** Connections that were closed to make room. */
  closedIdle = 0;
  readonly #connectionsMax: number;
  readonly #crowded: number;
  readonly #open = new InFlight<Connection>();
  #events = 0;

  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    this.#crowded = connectionsMax - Math.max(1, Math.floor(connectionsMax * RESERVE));
  }

  get size(): number {
    return this.#open.size;
  }

  /** A new connection. How many idle ones were closed for it, and others that follow. */
  add(socket: Socket): number {
    const connection = this.of(socket);
    if (this.#open.size <= this.#crowded) return 0;
    return this.#closeIdle(Math.ceil(this.#connectionsMax * CLOSED_TOGETHER), connection);
  }

  of(socket: Socket): Connection {
    const known = (socket as KnownSocket)[CONNECTION];
    if (known !== undefined) return known;
    const connection = new Connection(socket, clientAddress(socket.remoteAddress), ++this.#events);
    (socket as KnownSocket)[CONNECTION] = connection;
    connection.place = this.#open.add(connection);
    socket.once("close", () => this.#open.remove(connection.place));
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
   * A second or so has passed: cuts clients that have taken nothing of their answers in so many ticks, whatever they send
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

  /**
   * Closes idle connections: of the address that has most of them the one that has been idle longest, and so on. What
   * somebody works for, or has just come, stays.
   */
  #closeIdle(count: number, newcomer: Connection): number {
    const byAddress = new Map<string, Connection[]>();
    for (const [, connection] of this.#open) {
      if (connection.requests > 0 || connection === newcomer || connection.socket.destroyed) continue;
      const beside = byAddress.get(connection.address);
      if (beside === undefined) byAddress.set(connection.address, [connection]);
      else beside.push(connection);
    }
    for (const idle of byAddress.values()) idle.sort(newestFirst);
    let closed = 0;
    for (; closed < count; closed++) {
      let most: Connection[] = [];
      for (const idle of byAddress.values()) if (idle.length > most.length) most = idle;
      const longest = most.pop();
      if (longest === undefined) break;
      longest.socket.destroy();
    }
    this.closedIdle += closed;
    return closed;
  }
}

function newestFirst(one: Connection, other: Connection): number {
  return other.idleSince - one.idleSince;
}
