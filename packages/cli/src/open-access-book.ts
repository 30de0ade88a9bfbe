import { randomBytes, randomUUID } from "node:crypto";
import { AccessBook, type ApiKeySource, ApiKeyTable } from "@shoal/gateway";
import type { AccessService } from "@shoal/rpc";
import { digestOfKey, type ResourceScope } from "@shoal/service-runtime";
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
