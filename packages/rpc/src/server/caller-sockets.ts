import type { Socket } from "node:net";

/** By then a caller has proved who it is, or without TLS, that it speaks HTTP/2. */
const STRANGER_MS_MAX = 5_000;

interface Stranger {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
}

/**
 * The connections of one port, of which there are `max` at most. A stranger is cut after five seconds, and before that
 * for a newer connection when there is no room, the oldest first. A peer is cut for nobody: where all are peers,
 * newcomers are refused. So one holder of a certificate that many places are of no use to has at most half of those that
 * other such holders leave: however many they are, places are left for gateways and coordinators.
 */
export class CallerSockets {
  readonly #max: number;
  /** By their ends, the oldest first. */
  readonly #strangers = new Map<string, Stranger>();
  /** With who they are, where that is bounded. */
  readonly #peers = new Map<Socket, string | undefined>();

  constructor(max: number) {
    this.#max = max;
  }

  /** A new connection, of a stranger. False: it has been refused. */
  take(socket: Socket): boolean {
    const [oldest] = this.#strangers.values();
    const isFull = this.#strangers.size + this.#peers.size >= this.#max;
    // Who has gone meanwhile has no address any more.
    if (socket.remoteAddress === undefined || (isFull && oldest === undefined)) {
      socket.destroy();
      return false;
    }
    if (isFull && oldest !== undefined) this.#cut(oldest);
    const ends = endsOf(socket);
    this.#strangers.set(ends, { socket, timer: setTimeout(() => socket.destroy(), STRANGER_MS_MAX) });
    socket.once("close", () => {
      this.#leave(ends, socket);
      this.#peers.delete(socket);
    });
    return true;
  }

  /**
   * Whoever is at the other end of `socket`, which may be what TLS made of the one that was taken, is a peer now. False: it is cut.
   * `holder`: who that is, where the places of one holder are bounded.
   */
  admit(socket: Socket, holder?: string): boolean {
    const ends = endsOf(socket);
    const stranger = this.#strangers.get(ends);
    if (stranger === undefined || stranger.socket.destroyed) return false;
    this.#leave(ends, stranger.socket);
    if (holder !== undefined && !this.#mayHaveMore(holder)) return false;
    this.#peers.set(stranger.socket, holder);
    return true;
  }

  #mayHaveMore(holder: string): boolean {
    let own = 0;
    let others = 0;
    for (const one of this.#peers.values()) {
      if (one === holder) own++;
      else if (one !== undefined) others++;
    }
    return own < (this.#max - others) / 2;
  }

  cutStrangers(): void {
    for (const stranger of this.#strangers.values()) this.#cut(stranger);
  }

  #cut({ socket }: Stranger): void {
    this.#leave(endsOf(socket), socket);
    socket.destroy();
  }

  #leave(ends: string, socket: Socket): void {
    const stranger = this.#strangers.get(ends);
    if (stranger?.socket !== socket) return;
    clearTimeout(stranger.timer);
    this.#strangers.delete(ends);
  }
}

/** Tells a connection from every other: one caller may reach two addresses of this machine from the same port. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
