import { type ClassRights, type RightsHolder, ShoalError, UnavailableHere } from "@shoal/model";
import type { AccessService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { RolesConfiguration } from "@shoal/service-runtime";
import type { Principal } from "../auth/access.js";
import { type ApiKeySource, ApiKeyTable, type HeldApiKey } from "../auth/api-keys.js";
import { type AccessChangesParts, ChangeLine } from "./access-changes.js";
import { type AccessState, type DatabaseUser, stateOf } from "./access-state.js";
import { Assignments } from "./assignments.js";
import { Authority } from "./authority.js";
import { Permissions } from "./permissions.js";
import { RoleChanges } from "./role-changes.js";
import { UserChanges } from "./user-changes.js";

export interface AccessBookParts {
  readonly service: AccessService;
  /** Undefined: roles are off. */
  readonly roles: RolesConfiguration | undefined;
  /** Whether there are users that are made at run time. */
  readonly databaseUsers: boolean;
  /** The other places where keys are. */
  readonly otherKeys: readonly ApiKeySource[];
  readonly nowMs: () => number;
  /** Something random. */
  readonly newId: () => string;
  /** A key with 256 random bits. */
  readonly newKey: () => string;
  /** SHA-256 of a key. */
  readonly digestOf: (key: string) => Buffer;
  /** Why what is known is not to be relied on any more; undefined: it is. */
  readonly distrust?: (() => string | undefined) | undefined;
}

/** The roles, who has them, and the users with keys, as this process knows them, and the ways to change them. */
export class AccessBook implements ApiKeySource, Disposable {
  readonly roles: RoleChanges;
  readonly assignments: Assignments;
  readonly users: UserChanges;
  readonly hasRoles: boolean;
  readonly hasUsers: boolean;
  readonly newId: () => string;
  readonly #authority: Authority | undefined;
  readonly #subscription: Disposable;
  #state: AccessState | undefined;
  #keys: ApiKeyTable = NO_KEYS;

  constructor(private readonly parts: AccessBookParts) {
    this.hasRoles = parts.roles !== undefined;
    this.hasUsers = parts.databaseUsers;
    this.newId = parts.newId;
    this.#authority = parts.roles && new Authority(parts.roles);
    const { service, nowMs, newId, newKey } = parts;
    const changes: AccessChangesParts = {
      ...{ service, authority: this.#authority, nowMs, line: new ChangeLine(nowMs), newId, newKey },
      digestOf: (key) => parts.digestOf(key).toString("base64"),
      isStaticUser: (name) => this.isStaticUser(name),
    };
    this.roles = new RoleChanges(changes);
    this.assignments = new Assignments(changes);
    this.users = new UserChanges(changes);
    this.#subscription = service.watch((snapshot) => {
      const before = this.#state;
      this.#state = stateOf(snapshot);
      if (parts.databaseUsers && !hasSameUsers(before, this.#state)) this.#keys = keysOf(this.#state);
    });
  }

  /** Whether anything is known. */
  get isKnown(): boolean {
    return this.#state !== undefined;
  }

  /** Who holds the key, if a user that was made at run time does. */
  find(digest: Buffer): Principal | undefined {
    return this.#keys.find(digest);
  }

  holds(username: string): boolean {
    return this.#keys.holds(username);
  }

  /** Whether a user of that name has an API key by the settings. */
  isStaticUser(name: string): boolean {
    return this.parts.otherKeys.some((source) => source.holds?.(name) === true);
  }

  /** What somebody may do as far as this process knows; undefined when roles are off. Fails with `unavailable`. */
  permissionsOf(principal: Principal): Permissions | undefined {
    return this.#authority?.permissionsOf(principal, this.state());
  }

  /**
   * What somebody may do now, as far as this process knows, whom it has let in before: nothing when he is gone or switched off, or
   * when the name is another user's by now. Fails with `unavailable`, and where roles are off.
   */
  rightsOf(holder: RightsHolder): ClassRights {
    return this.#rightsAt(holder, this.state());
  }

  /**
   * The same of somebody whom another process may have let in, with every change that was answered before this was called. Fails
   * with `unavailable` while no coordinator answers, and where this process cannot tell: its settings know no such user, but
   * those of others may.
   */
  async latestRightsOf(holder: RightsHolder, context: RequestContext): Promise<ClassRights> {
    const state = stateOf(await this.parts.service.current(context));
    const { username, userType, sinceMs } = holder;
    if (userType === "db" && !(sinceMs === undefined ? this.isStaticUser(username) : this.hasUsers)) {
      const reason = sinceMs === undefined ? "no API key of its settings is his" : "users made at run time are off";
      throw new UnavailableHere(`this gateway cannot tell whether user '${username}' is still let in: ${reason}`);
    }
    return this.#rightsAt(holder, state);
  }

  #rightsAt(holder: RightsHolder, state: AccessState): ClassRights {
    const { username, groups, userType } = holder;
    const principal = { username, groups, userType };
    const permissions = this.#authority?.permissionsOf(principal, state);
    if (permissions === undefined) throw new ShoalError("internal", "rights are asked for where roles are off");
    return this.#isThere(holder, state) ? permissions : new Permissions(principal, [], false, holder.sinceMs);
  }

  /** Whether whoever the name stood for may still come in. Nobody but the issuer knows of tokens. */
  #isThere({ username, userType, sinceMs }: RightsHolder, { users }: AccessState): boolean {
    if (userType !== "db") return true;
    if (sinceMs === undefined) return this.isStaticUser(username);
    const user = users.get(username);
    return this.hasUsers && user?.isActive === true && user.createdMs === sinceMs;
  }

  /** What somebody may do at a state. */
  permissionsAt(principal: Principal, state: AccessState): Permissions | undefined {
    return this.#authority?.permissionsOf(principal, state);
  }

  /** As this process knows it. Fails with `unavailable` before it knows anything, and when that is too old. */
  state(): AccessState {
    const distrust = this.parts.distrust?.();
    if (this.#state === undefined || distrust !== undefined) {
      const reason = distrust ?? "roles and users are not known yet: no coordinator has answered";
      throw new ShoalError("unavailable", reason, { retryAfterSeconds: 1 });
    }
    return this.#state;
  }

  /** With every change that was answered before this was called; as this process knows it while no coordinator answers. */
  async latest(context: RequestContext): Promise<AccessState> {
    try {
      return stateOf(await this.parts.service.current(context));
    } catch (thrown) {
      if (!(thrown instanceof ShoalError) || thrown.code !== "unavailable") throw thrown;
      return this.state();
    }
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}

const NO_KEYS = new ApiKeyTable([]);

function hasSameUsers(before: AccessState | undefined, { users }: AccessState): boolean {
  if (before === undefined || before.users.size !== users.size) return false;
  for (const [name, user] of users) {
    const other = before.users.get(name);
    if (other?.digest !== user.digest || other?.isActive !== user.isActive) return false;
  }
  return true;
}

function keysOf({ users }: AccessState): ApiKeyTable {
  return new ApiKeyTable([...users.values()].flatMap(heldKey));
}

function heldKey({ name, digest, isActive }: DatabaseUser): readonly HeldApiKey[] {
  if (digest === undefined || !isActive) return [];
  return [{ digest: Buffer.from(digest, "base64"), principal: { username: name, groups: [], userType: "db" } }];
}
