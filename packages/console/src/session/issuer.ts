import * as oauth from "oauth4webapi";
import { messageOf, ServerError } from "../api/server-error.js";
import type { SignInRequest } from "./sign-in-request.js";
import type { TokenResponse } from "./tokens.js";

/** Where people sign in: the issuer's discovery document as our server passes it on, with our client id. */
export interface Issuer {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
}

const DISCOVERY_PATH = "/v1/.well-known/openid-configuration";
/** What people's names are taken from; asked for where the issuer knows them. */
const OPTIONAL_SCOPES = ["profile", "email"];

/** The scopes that the server's settings name (a member of its own in the document), else those that names are taken from. */
function scopesOf(server: oauth.AuthorizationServer): readonly string[] {
  const named: unknown = server.scopes;
  if (Array.isArray(named))
    return ["openid", ...named.filter((scope) => typeof scope === "string" && scope !== "openid")];
  const supported = server.scopes_supported;
  return ["openid", ...OPTIONAL_SCOPES.filter((scope) => supported?.includes(scope) === true)];
}

/** How people sign in to the server. */
export interface SignInMethods {
  /** Undefined: not with an issuer. */
  readonly issuer: Issuer | undefined;
  readonly takesKeys: boolean;
}

/** Fails with ServerError. */
export async function findSignInMethods(): Promise<SignInMethods> {
  const response = await fetch(DISCOVERY_PATH, { cache: "no-store" }).catch(() => {
    throw new ServerError(0, "is the server running, and does the network reach it?");
  });
  const takesKeys = response.headers.get("shoal-authentication")?.includes("API-keys") ?? false;
  if (response.status === 404) return { issuer: undefined, takesKeys };
  const text = await response.text();
  if (response.status !== 200) throw new ServerError(response.status, messageOf(response.status, text));
  const { clientId, ...server } = JSON.parse(text) as oauth.AuthorizationServer & { readonly clientId?: unknown };
  if (typeof server.issuer !== "string") throw new ServerError(200, "the discovery document names no issuer");
  if (typeof clientId !== "string" || clientId === "") {
    throw new ServerError(
      200,
      "the server names no client id, so that nobody can sign in here (authentication.oidc.client_id)",
    );
  }
  return { issuer: { server, client: { client_id: clientId } }, takesKeys };
}

/** Where to send the browser. Fails when this page may not use cryptography, as on http outside of localhost. */
export async function authorizationUrl(issuer: Issuer, request: SignInRequest, redirectUri: string): Promise<URL> {
  const { server, client } = issuer;
  if (server.authorization_endpoint === undefined) throw new Error("the issuer has no authorization_endpoint");
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: scopesOf(server).join(" "),
    state: request.state,
    nonce: request.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** A request with fresh secrets. */
export function newSignInRequest(fragment: string, now: number): SignInRequest {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    codeVerifier: oauth.generateRandomCodeVerifier(),
    fragment,
    begunAt: now,
  };
}

/** The tokens for the code that came back with `address`. Checks state, issuer, nonce, audience and times. */
export async function redeemCode(
  issuer: Issuer,
  request: SignInRequest,
  address: URL,
  redirectUri: string,
): Promise<TokenResponse> {
  const { server, client } = issuer;
  const parameters = oauth.validateAuthResponse(server, client, address, request.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    request.codeVerifier,
    requestOptions(server),
  );
  return oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: request.nonce,
    requireIdToken: true,
  });
}

export async function refreshTokens({ server, client }: Issuer, refreshToken: string): Promise<TokenResponse> {
  const response = await oauth.refreshTokenGrantRequest(
    server,
    client,
    oauth.None(),
    refreshToken,
    requestOptions(server),
  );
  return oauth.processRefreshTokenResponse(server, client, response);
}

/** Tells the issuer that the token is not needed any more. Nothing is lost when that fails: the token runs out. */
export async function revokeToken({ server, client }: Issuer, token: string): Promise<void> {
  if (server.revocation_endpoint === undefined) return;
  await oauth
    .revocationRequest(server, client, oauth.None(), token, requestOptions(server))
    .then(oauth.processRevocationResponse)
    .catch(() => undefined);
}

/** Where the issuer ends its own session, if it offers that. */
export function signOutUrl({ server, client }: Issuer, idToken: string, returnUri: string): URL | undefined {
  if (server.end_session_endpoint === undefined) return undefined;
  const url = new URL(server.end_session_endpoint);
  url.searchParams.set("client_id", client.client_id);
  if (idToken !== "") url.searchParams.set("id_token_hint", idToken);
  url.searchParams.set("post_logout_redirect_uri", returnUri);
  return url;
}

/** Why a sign-in or a refresh failed, in the issuer's words where it has some. */
export function reasonOf(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return error.error_description ? `${error.error}: ${error.error_description}` : error.error;
  }
  if (error instanceof TypeError)
    return "the issuer cannot be reached from this browser (network, or CORS at the issuer)";
  return error instanceof Error ? error.message : String(error);
}

/** Whether the issuer has said no, as opposed to not having been reached. */
export function isRefusal(error: unknown): boolean {
  return error instanceof oauth.ResponseBodyError;
}

/** An issuer on plain http is the operator's choice, e.g. a local one; tokens then go the same way. */
function requestOptions(server: oauth.AuthorizationServer): oauth.TokenEndpointRequestOptions {
  return server.issuer.startsWith("http:") ? { [oauth.allowInsecureRequests]: true } : {};
}
