import { setting } from "../setting.js";
import { texts, truth, wholeNumber } from "../setting-parsers.js";

/** Roles and users made at run time. `read-roles.ts` makes of them the value that code receives. */
export const ROLE_SETTINGS = {
  rbacEnabled: setting("AUTHORIZATION_RBAC_ENABLED", "authorization.rbac.enabled", truth, {
    fallbackText: "false",
    meaning: "Whether roles say who may do what. Not together with the admin list. The next ones count only then.",
  }),
  rbacEnabledFormerly: setting("AUTHORIZATION_ENABLE_RBAC", "authorization.enable_rbac", truth, {
    meaning: "Former name of AUTHORIZATION_RBAC_ENABLED.",
  }),
  rbacRootUsers: setting("AUTHORIZATION_RBAC_ROOT_USERS", "authorization.rbac.root_users", texts, {
    meaning:
      "Users who have the role root, which allows everything, separated by commas; by name, of an API key and of a token alike.",
  }),
  rbacRootUsersFormerly: setting("AUTHORIZATION_ADMIN_USERS", "authorization.admin_users", texts, {
    meaning: "Former name of AUTHORIZATION_RBAC_ROOT_USERS.",
  }),
  rbacRootGroups: setting("AUTHORIZATION_RBAC_ROOT_GROUPS", "authorization.rbac.root_groups", texts, {
    fallback: [],
    meaning: "Groups of a token whose users have the role root, separated by commas.",
  }),
  rbacReadOnlyGroups: setting("AUTHORIZATION_RBAC_READONLY_GROUPS", "authorization.rbac.read_only_groups", texts, {
    fallback: [],
    meaning:
      "Groups of a token whose users have the role read-only, separated by commas; anonymous for requests without a token.",
  }),
  rbacStaleSecondsMax: setting(
    "AUTHORIZATION_RBAC_STALE_SECONDS_MAX",
    "authorization.rbac.stale_seconds_max",
    wholeNumber(0, 31_536_000),
    {
      fallback: 0,
      fallbackText: "0",
      meaning:
        "How long a gateway continues with the roles it knows while it reaches no coordinator; then requests are 503. 0: without end.",
    },
  ),
  databaseUsers: setting("AUTHENTICATION_DB_USERS_ENABLED", "authentication.db_users.enabled", truth, {
    fallback: false,
    meaning: "Whether users with API keys can be made at run time, over /v1/users/db.",
  }),
} as const;
