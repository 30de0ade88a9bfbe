import { randomBytes, randomUUID } from "node:crypto";
import { AccessBook, type AccessControl, type ApiKeySource, ApiKeyTable, anonymousActions } from "@shoal/gateway";
import { ACTIONS, ShoalError } from "@shoal/model";
import type { AccessService } from "@shoal/rpc";
import { type Configuration, digestOfKey, isLoopback, type Logger, type ResourceScope } from "@shoal/service-runtime";
import type { ProcessOptions } from "./process-options.js";

/** 256 bits: see UserChanges. */
const KEY_BYTES = 32;

/** Whether anything of roles or of users made at run time is on. */
export function usesAccess({
  configuration: { roles, databaseUsers },
}: Pick<ProcessOptions, "configuration">): boolean {
  return roles !== undefined || databaseUsers;
}

/**
 * Roles and users made at run time; undefined where neither is on. `apiKeySources`: where the keys of the file are; `ageMs`: how
 * old what is known of roles may be.
 */
export function openAccessBook(
  { configuration, clock }: Pick<ProcessOptions, "configuration" | "clock">,
  service: AccessService,
  apiKeySources: readonly ApiKeySource[],
  scope: ResourceScope,
  ageMs: () => number = () => 0,
): AccessBook | undefined {
  const { roles, databaseUsers, authentication } = configuration;
  if (!usesAccess({ configuration })) return undefined;
  const { apiKeys } = authentication;
  return scope.use(
    new AccessBook({
      service,
      roles,
      databaseUsers,
      otherKeys: [...(apiKeys === undefined ? [] : [ApiKeyTable.of(apiKeys.allowed)]), ...apiKeySources],
      nowMs: () => clock.now(),
      newId: randomUUID,
      newKey: () => randomBytes(KEY_BYTES).toString("base64url"),
      digestOf: digestOfKey,
      distrust: () => {
        const { staleSecondsMax = 0 } = roles ?? {};
        if (staleSecondsMax === 0 || ageMs() <= staleSecondsMax * 1000) return undefined;
        return `no coordinator has told for more than ${staleSecondsMax} s who may do what (AUTHORIZATION_RBAC_STALE_SECONDS_MAX)`;
      },
    }),
  );
}

/**
 * Says what other machines may do without saying who they are, unless that is meant. False while roles are not known: to be
 * asked again.
 */
export function warnOfOpenAccess(
  settings: Pick<Configuration, "host" | "port" | "allowAnonymousRemote">,
  access: AccessControl,
  logger: Logger,
): boolean {
  const { host, port, allowAnonymousRemote } = settings;
  if (allowAnonymousRemote || isLoopback(host)) return true;
  let may: string | undefined;
  try {
    may = whatAnonymousMay(access);
  } catch (thrown) {
    if (thrown instanceof ShoalError && thrown.code === "unavailable") return false;
    throw thrown;
  }
  if (may === undefined) return true;
  logger.warn(
    { host, port },
    `whoever reaches port ${port} may ${may} without authentication, because HOST is ${host}: demand it ` +
      "(AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false with AUTHENTICATION_APIKEY_… or AUTHENTICATION_OIDC_…), listen on this machine alone " +
      "(HOST=127.0.0.1), or say that it is meant (ALLOW_ANONYMOUS_REMOTE=true)",
  );
  return true;
}

function whatAnonymousMay(access: AccessControl): string | undefined {
  const actions = anonymousActions(access);
  if (actions.length === 0) return undefined;
  const all = Object.keys(ACTIONS);
  if (actions.length === all.length) return "read, change and delete everything";
  const isReading = (action: string): boolean => action.startsWith("read_");
  if (actions.every(isReading) && actions.length === all.filter(isReading).length) return "read everything";
  return `do some things (${actions.join(", ")})`;
}
