import type { Clock } from "@shoal/service-runtime";
import type { Principal } from "../auth/access.js";
import { AuditCounts, type CountableEvent, type CountedEvents } from "./audit-counts.js";
import {
  type AuditDescription,
  type AuditFields,
  type AuditOutcome,
  auditedUser,
  auditLine,
  distinctName,
} from "./audit-line.js";

/** How long writes, refusals and failures of one kind are counted before their line is written. */
export const AUDIT_WINDOW_MS = 10_000;

/** Where lines go. Neither waits nor throws: what does not fit is dropped there, and counted. */
export interface AuditSink {
  /** Takes a line, its end included. */
  write(line: string): void;
}

export interface AuditLogParts {
  readonly sink: AuditSink;
  readonly clock: Clock;
  /** Names this process in each line. */
  readonly server: string;
  /** Whether there is a class of that name: what strangers make up is not counted one by one. */
  readonly hasClass: (className: string) => boolean;
  readonly windowMs?: number;
}

/** From whom, by what way. */
export interface AuditOrigin {
  readonly principal: Principal | undefined;
  readonly address: string | undefined;
  /** Came to the port for the operator's own machines. */
  readonly isInternal?: true;
}

/** Whether somebody is known by a name of his own; strangers make up names. */
export function isKnown(principal: Principal | undefined): principal is Principal {
  return principal !== undefined && principal.userType !== "anonymous";
}

/**
 * Who did what to what, and how it ended, one line of JSON each. What changes the server (classes, roles, jobs) has a line of
 * its own at once; writes of data, refusals and failures are counted by kind for a window. The counts of an address are
 * written before a line of its own, so that lines of one connection have the order of its effects.
 */
export class AuditLog implements Disposable {
  /** By those whom keys and tokens stand for: the lines of one token share its groups, which may be long. */
  readonly #users = new WeakMap<Principal, ShownUser>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly parts: AuditLogParts,
    private readonly counts = new AuditCounts(),
  ) {
    this.#write({ action: "start_audit", outcome: "allowed", version: 1 });
  }

  /** Whether a name is one that the server knows. */
  hasClass(className: string): boolean {
    return this.parts.hasClass(className);
  }

  /** Writes a line of its own. */
  event({ principal, address }: AuditOrigin, fields: AuditFields): void {
    this.#flush(address ?? "");
    const { action, outcome, ...others } = fields;
    this.#write({ action, outcome, ...auditedUser(principal), ...addressOf(address), ...others });
  }

  /** Counts what was denied or has failed. `kind`: what distinguishes it, beside its origin; `describe` is asked for the first of a kind. */
  refused(origin: AuditOrigin, kind: string, outcome: AuditOutcome, describe: () => AuditDescription): void {
    this.#counted(origin, kind, outcome, describe).requests++;
  }

  /** Counts objects or references that were written, and refused. */
  wrote(
    origin: AuditOrigin,
    action: string,
    className: string | undefined,
    written: { readonly accepted: number; readonly refused: number },
  ): void {
    const outcome: AuditOutcome = written.accepted > 0 ? "allowed" : "failed";
    const counted = this.#counted(origin, `wrote ${action} ${className ?? ""} ${outcome}`, outcome, () => ({
      action,
      ...(className === undefined ? {} : { class: className }),
    }));
    counted.requests++;
    counted.accepted += written.accepted;
    counted.refused += written.refused;
  }

  /** Writes what is counted. */
  [Symbol.dispose](): void {
    this.#flush(undefined);
    this.#write({ action: "stop_audit", outcome: "allowed" });
  }

  #counted(origin: AuditOrigin, kind: string, outcome: AuditOutcome, describe: () => AuditDescription): CountedEvents {
    const { clock, windowMs = AUDIT_WINDOW_MS } = this.parts;
    const { principal, address } = origin;
    const { name, groups, line } = this.#shown(principal);
    const owner = ownerOf(origin, name);
    if (!this.counts.hasRoomFor(owner)) this.#flush(undefined);
    const event: CountableEvent = {
      owner,
      outcome,
      kind: `${owner}\n${address ?? ""}\n${principal?.userType ?? ""}\n${groups}\n${kind}`,
      address,
      describe() {
        const { action, ...others } = describe();
        return { action, outcome, ...line, ...addressOf(address), ...others };
      },
      // Of strangers, who have one part, nothing is the same; of a user the groups are not: each token has its own.
      describeOwner: () => (isKnown(principal) ? { user: line.user, userType: line.userType } : {}),
    };
    const counted = this.counts.of(event, clock.now());
    this.#timer ??= setTimeout(() => this.#flush(undefined), windowMs).unref();
    return counted;
  }

  #shown(principal: Principal | undefined): ShownUser {
    if (principal === undefined) return NOBODY;
    let shown = this.#users.get(principal);
    if (shown === undefined) {
      const { username, groups } = principal;
      shown = {
        name: distinctName(username),
        groups: distinctName(JSON.stringify(groups)),
        line: auditedUser(principal),
      };
      this.#users.set(principal, shown);
    }
    return shown;
  }

  /** Writes the counts of an address; all when it is undefined. */
  #flush(address: string | undefined): void {
    if (address === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    if (this.counts.isEmpty) return;
    for (const counted of this.counts.take(address)) this.#write(countedFields(counted), counted.lastMs);
  }

  #write(fields: AuditFields, timeMs = this.parts.clock.now()): void {
    this.parts.sink.write(auditLine(timeMs, this.parts.server, fields));
  }
}

/** A user in counted lines. */
interface ShownUser {
  readonly name: string;
  readonly groups: string;
  readonly line: Readonly<Record<string, unknown>>;
}

const NOBODY: ShownUser = { name: "", groups: "", line: {} };

/** Strangers are one, whoever they say they are. */
function ownerOf({ principal, isInternal }: AuditOrigin, name: string): string {
  if (isInternal === true) return "internal";
  return isKnown(principal) ? `${principal.userType}\n${name}` : "";
}

function addressOf(address: string | undefined): { readonly address?: string } {
  return address === undefined ? {} : { address };
}

function countedFields({ fields, firstMs, lastMs, requests, accepted, refused }: CountedEvents): AuditFields {
  const since = lastMs === firstMs ? {} : { since: new Date(firstMs).toISOString() };
  const written = accepted + refused === 0 ? {} : { accepted, refused };
  return { ...fields, requests, ...written, ...since };
}
