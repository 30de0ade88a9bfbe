import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";
import { type AccessChangesParts, type Actor, changeAccess, type Decision, mostFor } from "./access-changes.js";
import {
  type AccessState,
  assignedEntry,
  type DatabaseUser,
  storedUser,
  subjectKey,
  userEntry,
} from "./access-state.js";
import { rolesNamed } from "./authority.js";
import { tooMany } from "./role-changes.js";

/** Users that were made at run time. */
export const USERS_MAX = 10_000;
const NAME_CHARS_MAX = 128;
const USER_NAME = /^[0-9A-Za-z][-_.@+=:/0-9A-Za-z]*$/;
const KEY_START_CHARS = 3;

/**
 * Users with an API key, made at run time. Keys are drawn here and shown once; what is stored is their SHA-256: nobody guesses
 * 256 random bits, so that a slow hash with salt would protect nothing and cost every request its time.
 *
 * Who could act as a user by changing it must be allowed all that the user is.
 */
export class UserChanges {
  constructor(private readonly parts: AccessChangesParts) {}

  /** The key. Fails with `conflict` when there is a user of that name. */
  create(name: string, principal: Principal, context: RequestContext): Promise<string> {
    checkUserName(name);
    const { isStaticUser, nowMs } = this.parts;
    const { key, ...keyParts } = this.#drawn();
    return changeAccess(this.parts, principal, context, async (state, actor) => {
      actor.permissions?.requireOn("create_users", [name]);
      if (isStaticUser(name)) throw new ShoalError("conflict", `user '${name}' already exists, by the settings`);
      if (state.users.has(name)) throw new ShoalError("conflict", `user '${name}' already exists`);
      const most = mostFor(USERS_MAX, actor.permissions?.mayEverywhere("create_users") !== false);
      if (state.users.size >= most) throw tooMany(`there are ${state.users.size} users`, most);
      // Roles that an earlier user of that name had may be left. They are not this one's, and whoever may not give them does not
      // make a user who had them for a moment either.
      await this.#requireAll(actor, name, state, "create_users");
      const user = { name, ...keyParts, isActive: true, createdMs: nowMs() };
      const subject = subjectKey("user/db", name);
      const changes = [
        { key: userEntry(name), value: storedUser(user) },
        ...(state.snapshot.entries.has(assignedEntry(subject))
          ? [{ key: assignedEntry(subject), value: undefined }]
          : []),
      ];
      return { changes, result: key };
    });
  }

  /** Its roles go with it. Fails with `notFound`. */
  delete(name: string, principal: Principal, context: RequestContext): Promise<void> {
    refuseOneself(principal, name, "delete");
    return this.#change("delete_users", name, principal, context, () => undefined);
  }

  /** The new key; the old one is no good any more when this resolves. Fails with `notFound`. */
  async rotateKey(name: string, principal: Principal, context: RequestContext): Promise<string> {
    const { key, ...keyParts } = this.#drawn();
    await this.#change("update_users", name, principal, context, (user) => ({ ...user, ...keyParts }));
    return key;
  }

  /** Fails with `notFound`, and with `conflict` when it is active. */
  activate(name: string, principal: Principal, context: RequestContext): Promise<void> {
    return this.#change("update_users", name, principal, context, (user) => {
      if (user.isActive) throw new ShoalError("conflict", `user '${name}' is active already`);
      return { ...user, isActive: true };
    });
  }

  /** `revokesKey`: it gets a new one before it can be used again. Fails with `notFound`, and with `conflict` when it is not active. */
  deactivate(name: string, revokesKey: boolean, principal: Principal, context: RequestContext): Promise<void> {
    refuseOneself(principal, name, "deactivate");
    return this.#change("update_users", name, principal, context, (user) => {
      if (!user.isActive) throw new ShoalError("conflict", `user '${name}' is not active already`);
      return { ...user, isActive: false, digest: revokesKey ? undefined : user.digest };
    });
  }

  #drawn(): Pick<DatabaseUser, "digest" | "keyStart"> & { readonly key: string } {
    const key = this.parts.newKey();
    return { key, digest: this.parts.digestOf(key), keyStart: key.slice(0, KEY_START_CHARS) };
  }

  #change(
    action: "update_users" | "delete_users",
    name: string,
    principal: Principal,
    context: RequestContext,
    decide: (user: DatabaseUser) => DatabaseUser | undefined,
  ): Promise<void> {
    return changeAccess(this.parts, principal, context, async (state, actor): Promise<Decision<void>> => {
      actor.permissions?.requireOn(action, [name]);
      await this.#requireAll(actor, name, state, action);
      const user = state.users.get(name);
      if (user === undefined) throw unknownUser(name, this.parts.isStaticUser(name));
      const after = decide(user);
      const subject = subjectKey("user/db", name);
      const value = after && storedUser(after);
      const gone = after === undefined ? [{ key: assignedEntry(subject), value: undefined }] : [];
      return {
        changes: [{ key: userEntry(name), value }, ...gone],
        result: undefined,
      };
    });
  }

  /** Fails with `forbidden` when the user is allowed what the actor is not. */
  async #requireAll(
    { permissions, rights }: Actor,
    name: string,
    state: AccessState,
    action: "create_users" | "update_users" | "delete_users",
  ): Promise<void> {
    if (permissions === undefined || permissions.isRoot) return;
    const roles = rolesNamed(state.assigned.get(subjectKey("user/db", name)) ?? [], state);
    const isUnderstood = roles.every((role) => state.roles.get(role.name)?.isUnderstood !== false);
    const isRoot = this.parts.authority?.isRootUser(name) === true;
    const given = roles.flatMap((role) => role.permissions);
    if (isUnderstood && !isRoot && (await rights?.coversAll(given)) === true) return;
    const { message } = permissions.refusal(action, [name]);
    throw new ShoalError("forbidden", `${message}: this user is allowed more than you are`);
  }
}

export function unknownUser(name: string, isStatic: boolean): ShoalError {
  const shown = name.slice(0, NAME_CHARS_MAX);
  if (isStatic) return new ShoalError("invalid", `user '${shown}' has its key by the settings: it is changed there`);
  return new ShoalError("notFound", `user '${shown}' does not exist`);
}

/** Fails with `invalid` unless a user may be called so. */
function checkUserName(name: string): void {
  if (name.length <= NAME_CHARS_MAX && USER_NAME.test(name) && name !== "anonymous") return;
  throw new ShoalError(
    "invalid",
    `a user's name is a letter or digit, then letters, digits and any of -_.@+=:/, at most ${NAME_CHARS_MAX} characters, and ` +
      "not 'anonymous'",
  );
}

/** Whoever locks himself out cannot take it back. */
function refuseOneself({ username, userType }: Principal, name: string, verb: "delete" | "deactivate"): void {
  if (userType !== "db" || username !== name) return;
  throw new ShoalError("invalid", `user '${name}' cannot ${verb} itself`);
}
