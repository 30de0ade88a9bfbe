import { setting } from "../setting.js";
import { texts, truth, wholeNumber } from "../setting-parsers.js";

/** Roles and users made at run time. `read-roles.ts` makes of them the value that code receives. */
export const ROLE_SETTINGS = {
  rbacEnabled: {
    ...setting<boolean | undefined>(
      "AUTHORIZATION_RBAC_ENABLED",
      "authorization.rbac.enabled",
      undefined,
      "Whether roles say who may do what. Not together with the admin list. The next ones count only then.",
      truth,
    ),
    fallbackText: "false",
  },
  rbacEnabledFormerly: setting<boolean | undefined>(
    "AUTHORIZATION_ENABLE_RBAC",
    "authorization.enable_rbac",
    undefined,
    "Former name of AUTHORIZATION_RBAC_ENABLED.",
    truth,
  ),
  rbacRootUsers: {
    ...setting<readonly string[] | undefined>(
      "AUTHORIZATION_RBAC_ROOT_USERS",
      "authorization.rbac.root_users",
      undefined,
      "Users who have the role root, which allows everything, separated by commas; by name, of an API key and of a token alike.",
      texts,
    ),
    fallbackText: "none",
  },
  rbacRootUsersFormerly: setting<readonly string[] | undefined>(
    "AUTHORIZATION_ADMIN_USERS",
    "authorization.admin_users",
    undefined,
    "Former name of AUTHORIZATION_RBAC_ROOT_USERS.",
    texts,
  ),
  rbacRootGroups: setting<readonly string[]>(
    "AUTHORIZATION_RBAC_ROOT_GROUPS",
    "authorization.rbac.root_groups",
    [],
    "Groups of a token whose users have the role root, separated by commas.",
    texts,
  ),
  rbacReadOnlyGroups: setting<readonly string[]>(
    "AUTHORIZATION_RBAC_READONLY_GROUPS",
    "authorization.rbac.read_only_groups",
    [],
    "Groups of a token whose users have the role read-only, separated by commas; anonymous for requests without a token.",
    texts,
  ),
  rbacStaleSecondsMax: {
    ...setting(
      "AUTHORIZATION_RBAC_STALE_SECONDS_MAX",
      "authorization.rbac.stale_seconds_max",
      0,
      "How long a gateway goes on with the roles it knows while it reaches no coordinator; then requests are 503. 0: without end.",
      wholeNumber(0, 31_536_000),
    ),
    fallbackText: "0",
  },
  databaseUsers: setting(
    "AUTHENTICATION_DB_USERS_ENABLED",
    "authentication.db_users.enabled",
    false,
    "Whether users with API keys can be made at run time, over /v1/users/db.",
    truth,
  ),
} as const;
