import type { Socket } from "node:net";
import type { Share } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";

/** Of 64 bits, as providers give them to one customer. */
const IPV6_GROUPS = 4;

/**
 * What Node keeps of a socket: bytes of the write under way that the system has not taken yet. It has no public name. With TLS the
 * socket that was accepted knows: the encrypted one says 0, and counts a write when all of it has left.
 */
interface Writing {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/** A client's connection, and for whom it takes turns and bytes. */
export class Connection {
  /** On what requests come and answers go: with TLS another one than was accepted. */
  stream: Socket;
  /** Its place among those that are open. */
  place = 0;
  /** Requests that have not been answered completely. */
  requests = 0;
  /** Grows with each connection that comes, and with each request that ends. */
  idleSince: number;
  #share: Share | undefined;
  #principal: Principal | undefined;
  /** Of the last tick; undefined: nothing waited to be taken. */
  #unsent: { readonly sent: number; readonly queued: number } | undefined;
  #silentTicks = 0;

  constructor(
    readonly socket: Socket,
    readonly address: string,
    /** Of all that there ever were. */
    readonly number: number,
  ) {
    this.idleSince = number;
    this.stream = socket;
  }

  /** A second or so has passed. Ticks in a row, each of them whole, in which the client took nothing of an answer that waited for it. */
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
