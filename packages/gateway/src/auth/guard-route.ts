import { ShoalError } from "@shoal/model";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { parseJson } from "../json/parse-json.js";
import { type AccessControl, ANONYMOUS, type Credentials, type Principal, permissionFor } from "./access.js";
import { answerThrown } from "./challenge.js";

/** Who asks, as far as the route wants to know. Fails with `unauthenticated`. Awaits nothing where it need not. */
export function identify(
  access: AccessControl,
  route: Pick<Route, "access">,
  credentials: Credentials,
): Principal | Promise<Principal> {
  if (route.access === "open") return ANONYMOUS;
  const principal = access.identify(credentials);
  if (principal instanceof Promise) return principal.then((known) => admitted(route, known));
  return admitted(route, principal);
}

function admitted(route: Pick<Route, "access">, principal: Principal | undefined): Principal {
  if (principal !== undefined) return principal;
  if (route.access === "anyone") return ANONYMOUS;
  throw new ShoalError("unauthenticated", "anonymous access not enabled, please provide an auth scheme such as OIDC");
}

/** Fails with `forbidden`; a body that is no JSON is told before that, as in the reference (reference-rest 1.1). */
export function authorize(
  access: AccessControl,
  route: Route,
  principal: Principal,
  params: readonly string[],
  body: Buffer,
): void {
  if (typeof route.access === "string") return;
  try {
    access.authorize(
      principal,
      route.access.resource.includes("{") ? permissionFor(route.access, params) : route.access,
    );
  } catch (refusal) {
    if (route.body === "json" && body.length > 0) parseJson(body, "body");
    throw refusal;
  }
}

/** Whether the path belongs to modules, which are behind authentication like everything else (decisions). */
export function isModulePath(target: string): boolean {
  return /^\/*v1\/+modules(?:[/?]|$)/.test(target);
}

/** `answer` for whom the server knows, and 401 for everybody else: what modules there are is nobody else's business. */
export async function behindAuthentication(
  access: AccessControl,
  credentials: Credentials,
  answer: HttpResponse,
): Promise<HttpResponse> {
  try {
    await identify(access, { access: "authenticated" }, credentials);
    return answer;
  } catch (thrown) {
    return answerThrown(thrown, credentials);
  }
}
