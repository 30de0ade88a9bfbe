import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import { isLoopback } from "./loopback.js";

/** What an operator says about names of a server, and about pages that may use it. */
export interface ForeignPageSettings {
  /** `ORIGIN`; "" when it is not set. */
  readonly origin: string;
  /** `ALLOWED_HOSTS`: names and addresses in lower case, without port; `*` for any. */
  readonly allowedHosts: readonly string[];
  /** `CORS_ALLOW_ORIGIN`: origins as browsers write them; `*` for any. Undefined: the port admits no foreign page at all. */
  readonly corsAllowOrigin: readonly string[] | undefined;
  /** Whether the port speaks TLS itself. Where it does not, a proxy in front may: then pages of either scheme are its own. */
  readonly isEncrypted: boolean;
}

/**
 * Refuses what a browser sends for somebody else's page. A browser says whose page it was, and pages cannot forge that: in
 * `Origin` (Fetch standard, 3.2; on everything but plain GETs) and `Sec-Fetch-Site` (Fetch Metadata; on localhost and over
 * https). A page whose own name was pointed at this server (DNS rebinding) looks like one of ours, but for the name in
 * `Host`. Requests without these headers come from no page, or from a link that a page cannot see the response of.
 */
export class ForeignPages {
  readonly #ownOrigin: string | undefined;
  readonly #ownHost: string | undefined;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #admitsOrigins: boolean;
  readonly #isEncrypted: boolean;
  #isLoopbackPort = true;
  #checksHosts = true;
  /** The last one that was accepted: nearly always it comes again. */
  #lastHost = "";

  constructor({ origin, allowedHosts, corsAllowOrigin, isEncrypted }: ForeignPageSettings) {
    const own = URL.canParse(origin) ? new URL(origin) : undefined;
    this.#ownOrigin = own?.origin;
    this.#ownHost = own === undefined ? undefined : hostOf(own.hostname);
    this.#hosts = new Set(allowedHosts);
    this.#origins = new Set(corsAllowOrigin);
    this.#admitsOrigins = corsAllowOrigin !== undefined;
    this.#isEncrypted = isEncrypted;
    this.#takePortFor(true);
  }

  /** The address that the port has; until it is known, it is taken for one of this machine alone. */
  listensOn(address: string): void {
    this.#takePortFor(isLoopback(address.replace(/^::ffff:/i, "")));
  }

  #takePortFor(isLoopbackPort: boolean): void {
    this.#isLoopbackPort = isLoopbackPort;
    this.#checksHosts = !this.#hosts.has("*") && (isLoopbackPort || this.#hosts.size > 0);
    this.#lastHost = "";
  }

  /** Why a request is refused, naming the setting that would admit it; undefined when it is not. Reads no body. */
  refusal(request: IncomingMessage): string | undefined {
    const { host, origin, "sec-fetch-site": site } = request.headers;
    if (this.#checksHosts) {
      if (host !== this.#lastHost && host !== undefined && host !== "") {
        if (!this.#isKnownHost(host)) return hostRefusal(host);
        this.#lastHost = host;
      }
      const target = request.url ?? "/";
      if (target.charCodeAt(0) !== SLASH) {
        // The host of an absolute URL counts, whatever `Host` says (RFC 9112, 3.2.2).
        const [, authority] = /^[^:/?#]*:\/\/([^/?#]*)/.exec(target) ?? [];
        if (authority !== undefined && !this.#isKnownHost(authority)) return hostRefusal(authority);
      }
    }
    if (origin === undefined && site === undefined) return undefined;
    return this.#pageRefusal(request);
  }

  /** `Access-Control-Allow-Origin` of a response to a page of `origin`; undefined: it may not read the response. */
  allowOrigin(origin: string | undefined): string | undefined {
    if (this.#origins.has("*")) return "*";
    return origin !== undefined && this.#origins.has(origin) ? origin : undefined;
  }

  #isKnownHost(header: string): boolean {
    const host = hostOf(header);
    if (host === undefined) return false;
    if (isLoopback(host) || host === this.#ownHost || this.#hosts.has(host)) return true;
    // Only names can be pointed elsewhere; probes and balancers call other machines by address.
    return !this.#isLoopbackPort && (host.startsWith("[") || isIPv4(host));
  }

  #pageRefusal(request: IncomingMessage): string | undefined {
    if (this.#origins.has("*") || isNavigation(request)) return undefined;
    const { host, origin, "sec-fetch-site": site } = request.headers;
    const isOwnSite = site === undefined || site === "same-origin" || site === "none";
    if (origin === undefined) return isOwnSite ? undefined : this.#refused(`Sec-Fetch-Site: ${site}`, ANY_PAGE);
    if (this.#origins.has(origin) || this.#isOrigin(origin)) return undefined;
    // A proxy may have made `Host` that of the foreign page; the browser knows better.
    if (isOwnSite && this.#isSameOrigin(origin, host)) return undefined;
    return this.#refused(
      `Origin: ${origin}`,
      origin === "null" ? ANY_PAGE : "neither CORS_ALLOW_ORIGIN nor ORIGIN names it",
    );
  }

  #refused(header: string, setting: string): string {
    const cause = this.#admitsOrigins ? setting : "this port is for no page but its own";
    return `pages of other origins may not use this server (${JSON.stringify(header)}): ${cause}`;
  }

  #isOrigin(origin: string): boolean {
    return this.#ownOrigin !== undefined && originOf(origin)?.origin === this.#ownOrigin;
  }

  /** Host and port, and the scheme where it is known: behind a proxy that speaks TLS it is not. */
  #isSameOrigin(origin: string, host: string | undefined): boolean {
    const page = originOf(origin);
    if (page === undefined || host === undefined || hostOf(host) === undefined) return false;
    if (this.#isEncrypted && page.protocol !== "https:") return false;
    // The port that goes without saying is that of the page's scheme.
    const asked = `${page.protocol}//${host}`;
    return URL.canParse(asked) && new URL(asked).host === page.host;
  }
}

const SLASH = 47;

/** For a page whose origin is not known. */
const ANY_PAGE = "only CORS_ALLOW_ORIGIN=* admits pages that do not say what their origin is";

/**
 * Somebody followed a link, or typed it: it changes nothing, and the page with the link cannot read what comes. Frames,
 * images and scripts are no such thing.
 */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

/** Without what stands before the host of a URL, which may be a password. */
function hostRefusal(host: string): string {
  return (
    `${JSON.stringify(host.slice(host.lastIndexOf("@") + 1))} is no name of this server (header Host): ALLOWED_HOSTS does not name it. A foreign page could ` +
    "have pointed that name here to pass for one of the server's own"
  );
}

/** Undefined for what is no origin of the web. */
function originOf(origin: string): URL | undefined {
  return /^https?:\/\/[^/?#@\\\s]+$/i.test(origin) && URL.canParse(origin) ? new URL(origin) : undefined;
}

/**
 * The name or address in `host[:port]`, as browsers write it: lower case, addresses in their usual form, IPv6 in brackets,
 * without the dot that ends a full name. Undefined when there is none.
 */
export function hostOf(header: string): string | undefined {
  const [, name] = /^(\[[^\]]*\]|[^:/?#@\\\s]+)(?::\d*)?$/.exec(header) ?? [];
  if (name === undefined || !URL.canParse(`http://${name}`)) return undefined;
  return new URL(`http://${name}`).hostname.replace(/\.$/, "");
}
