import { ShoalError } from "@shoal/model";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { type AccessControl, ANONYMOUS, type Credentials, type Principal } from "./access.js";
import { respondToThrown } from "./challenge.js";

/** Who asks, as far as the route wants to know. Fails with `unauthenticated`. Awaits nothing where it need not. */
export function identify(
  access: AccessControl,
  route: Pick<Route, "access">,
  credentials: Credentials,
): Principal | Promise<Principal> {
  if (route.access === "open") return ANONYMOUS;
  const principal = access.identify(credentials);
  if (principal instanceof Promise) return principal.then((known) => admitted(access, route, known));
  return admitted(access, route, principal);
}

function admitted(
  { methods = [] }: AccessControl,
  route: Pick<Route, "access">,
  principal: Principal | undefined,
): Principal {
  if (principal !== undefined) return principal;
  if (route.access === "anyone") return ANONYMOUS;
  // The text is that of the reference (reference-today 1.6).
  throw new ShoalError(
    "unauthenticated",
    `anonymous access not enabled. Please authenticate through one of the available methods: [${methods.join(", ")}]`,
  );
}

/** Fails with `forbidden` when the principal may not use the route, whatever its body says. */
export function authorize(
  access: AccessControl,
  route: Pick<Route, "access">,
  principal: Principal,
  params: readonly string[],
): void {
  if (typeof route.access !== "string") access.authorize(principal, route.access, params);
}

/** Whether the path belongs to modules, which are behind authentication like everything else (decisions). */
export function isModulePath(target: string): boolean {
  return /^\/*v1\/+modules(?:[/?]|$)/.test(target);
}

/** `response` for whom the server knows, and 401 for everybody else: what modules there are is nobody else's business. */
export async function behindAuthentication(
  access: AccessControl,
  credentials: Credentials,
  response: HttpResponse,
): Promise<HttpResponse> {
  try {
    await identify(access, { access: "authenticated" }, credentials);
    return response;
  } catch (thrown) {
    return respondToThrown(thrown, credentials);
  }
}
