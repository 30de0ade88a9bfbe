import { type Permission, resourceOf } from "../auth/access.js";
import type { Exchange, ExchangeObserver } from "../http/exchange.js";
import type { HttpResponse } from "../http/http-response.js";
import type { AuditedOperation } from "../http/route.js";
import { type AuditOutcome, boundedName, boundedNames, refusalReason } from "./audit-line.js";
import { type AuditLog, type AuditOrigin, isKnown } from "./audit-log.js";

/** Statuses after which it is not known whether a change has been made. */
export const UNKNOWN_STATUSES: ReadonlySet<number> = new Set([500, 503, 504]);

/** A request on its way to the audit log. */
export class AuditedRequest implements ExchangeObserver {
  /** Kept: a connection that is closed has none any more. */
  readonly #address: string | undefined;
  /** What the request is about; made when there is something. */
  #about: About | undefined;
  #hasWritten = false;

  constructor(
    private readonly log: AuditLog,
    private readonly exchange: Exchange,
  ) {
    this.#address = exchange.request.socket.remoteAddress;
  }

  concerns(what: string, names: string | readonly string[]): void {
    const shown = typeof names === "string" ? boundedName(names) : boundedNames(names);
    this.#about = { ...this.#about, [what]: shown };
  }

  wrote(className: string | undefined, accepted: number, refused: number): void {
    this.#hasWritten = true;
    const action = this.#operation?.action ?? "write";
    this.log.wrote(this.#origin, action, this.#toldApart(className ?? classOf(this.#about)), { accepted, refused });
  }

  madeSchema(className: string, properties: readonly string[], isNew: boolean, isUnknown: boolean): void {
    this.log.event(this.#origin, {
      action: isNew ? "create_class" : "add_property",
      outcome: isUnknown ? "unknown" : "allowed",
      by: "auto-schema",
      ...this.#whichOne(),
      class: boundedName(className),
      ...(properties.length === 0 ? {} : { properties: boundedNames(properties) }),
    });
  }

  denied(action: string, resource: string): void {
    this.log.refused(this.#origin, `denied ${action} ${this.#toldApart(resource) ?? ""}`, "denied", () => ({
      action,
      resource: boundedName(resource),
      ...this.#whichOne(),
    }));
  }

  /** The request has been answered, or its client has gone. */
  ended({ status, body }: HttpResponse): void {
    if (status === 401 || status === 403) {
      this.#refused("denied", status, body);
      return;
    }
    const operation = this.#operation;
    if (operation === undefined) return;
    if (operation.recorded === "count") {
      if (!this.#hasWritten && status >= 400) this.#refused(failure(status), status);
      return;
    }
    if (status >= 400 && !UNKNOWN_STATUSES.has(status)) {
      this.#refused("failed", status);
      return;
    }
    this.log.event(this.#origin, {
      action: operation.action,
      outcome: status >= 400 ? "unknown" : "allowed",
      status,
      ...this.#whichOne(),
      ...pathNames(this.exchange),
      ...this.#about,
    });
  }

  #refused(outcome: AuditOutcome, status: number, body?: HttpResponse["body"]): void {
    const { served, request } = this.exchange;
    const about = { ...pathNames(this.exchange), ...shortened(this.#about) };
    const className = this.#toldApart(classOf(about));
    const method = request.method ?? "";
    const place = served === undefined ? method : `${served.route.method} ${served.route.path}`;
    const kind = `${outcome} ${status} ${place} ${className ?? ""} ${this.#targets(about)}`;
    this.log.refused(this.#origin, kind, outcome, () => ({
      action: this.#operation?.action ?? (served === undefined ? "request" : actionOf(served.route.access)),
      status,
      ...this.#whichOne(),
      ...(served === undefined
        ? { method: boundedName(method), path: boundedName(pathOf(request.url)) }
        : resource(served.route.access, this.exchange)),
      ...about,
      ...(outcome === "denied" ? { reason: refusalReason(typeof body === "string" ? body : undefined) } : {}),
    }));
  }

  get #operation(): AuditedOperation | undefined {
    return this.exchange.served?.route.audited;
  }

  get #origin(): AuditOrigin {
    return { principal: this.exchange.principal, address: this.#address };
  }

  /** The class as it tells kinds apart. Strangers make up names, and would make a line of each: of theirs only those of classes do. */
  #toldApart(className: string | undefined): string | undefined {
    if (className === undefined) return undefined;
    // Clients may write the first letter small.
    const name = className.charAt(0).toUpperCase() + className.slice(1);
    return isKnown(this.exchange.principal) || this.log.hasClass(name) ? boundedName(name) : undefined;
  }

  /** Whose rights it is about, where a user asks. */
  #targets({ role = "", targetUser = "", targetGroup = "" }: About): string {
    return isKnown(this.exchange.principal) ? `${role} ${targetUser} ${targetGroup}` : "";
  }

  #whichOne() {
    const { requestId, served } = this.exchange;
    const route = served === undefined ? {} : { route: `${served.route.method} ${served.route.path}` };
    return { requestId, ...route };
  }
}

type About = Readonly<Record<string, string | readonly string[]>>;

/** Lists as lines have them that are kept until their window is over. */
const COUNTED_NAMES_MAX = 16;

function shortened(about: About = {}): About {
  return Object.fromEntries(
    Object.entries(about).map(([what, names]) => [
      what,
      typeof names === "string" ? names : boundedNames(names, COUNTED_NAMES_MAX),
    ]),
  );
}

function classOf(about: About | undefined): string | undefined {
  return typeof about?.class === "string" ? about.class : undefined;
}

function failure(status: number): AuditOutcome {
  return UNKNOWN_STATUSES.has(status) ? "unknown" : "failed";
}

/** `user` and `groups` are who asks. */
const TARGETS: Readonly<Record<string, string>> = { user: "targetUser", group: "targetGroup" };

/** What the path names: `{class}`, `{id}`, `{property}`, by their names. */
function pathNames({ served, params }: Exchange): Record<string, string> {
  const names: Record<string, string> = {};
  if (served === undefined || params.length === 0) return names;
  for (const [at, [, name = ""]] of [...served.route.path.matchAll(/\{(\w+)/g)].entries()) {
    const value = params[at];
    if (value !== undefined) names[TARGETS[name] ?? name] = boundedName(value);
  }
  return names;
}

function actionOf(access: string | Permission): string {
  return typeof access === "object" ? access.verb : "read";
}

function resource(access: string | Permission, { params }: Exchange): { readonly resource?: string } {
  return typeof access === "string" ? {} : { resource: boundedName(resourceOf(access, params)) };
}

/** Without the query, and what stands before the host of an absolute URL: both may hold a key. */
function pathOf(target = ""): string {
  const query = target.indexOf("?");
  return (query === -1 ? target : target.slice(0, query)).replace(/^([a-z]+:\/\/)[^/]*@/i, "$1");
}
