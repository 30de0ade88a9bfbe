import { type Configuration, isLoopback, type Logger } from "@shoal/service-runtime";

type AccessSettings = Pick<
  Configuration,
  "host" | "port" | "authentication" | "authorization" | "allowAnonymousRemote"
>;

/** Says what other machines may do without saying who they are, unless that is meant. */
export function warnOfOpenAccess(settings: AccessSettings, logger: Logger): void {
  const { host, port, authentication, authorization, allowAnonymousRemote } = settings;
  if (allowAnonymousRemote || isLoopback(host) || !authentication.anonymousAccess) return;
  const may = whatAnonymousMay(authorization);
  if (may === undefined) return;
  logger.warn(
    { host, port },
    `whoever reaches port ${port} may ${may} without authentication, because HOST is ${host}: demand it ` +
      "(AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false with AUTHENTICATION_APIKEY_… or AUTHENTICATION_OIDC_…), listen on this machine alone " +
      "(HOST=127.0.0.1), or say that it is meant (ALLOW_ANONYMOUS_REMOTE=true)",
  );
}

function whatAnonymousMay(authorization: AccessSettings["authorization"]): string | undefined {
  if (authorization === undefined || authorization.users.includes("anonymous")) {
    return "read, change and delete everything";
  }
  return authorization.readOnlyUsers.includes("anonymous") ? "read everything" : undefined;
}
