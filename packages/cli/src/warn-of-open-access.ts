import { type AccessControl, anonymousActions } from "@shoal/gateway";
import { ACTIONS, ShoalError } from "@shoal/model";
import { type Configuration, isLoopback, type Logger } from "@shoal/service-runtime";

type Settings = Pick<Configuration, "host" | "port" | "allowAnonymousRemote">;

/**
 * Says what other machines may do without saying who they are, unless that is meant. False while roles are not known: to be
 * asked again.
 */
export function warnOfOpenAccess(settings: Settings, access: AccessControl, logger: Logger): boolean {
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
