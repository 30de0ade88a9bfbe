import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { errors, Provider, type TokenEndpointGrantContext } from "oidc-provider";

/** A key that the issuer signs with. */
export interface IssuerKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface Account {
  readonly password: string;
  readonly email: string;
  /** Whether the issuer has verified it; absent: yes. Null: it does not say. */
  readonly emailVerified?: boolean | null;
  readonly groups: readonly unknown[];
}

export interface TokenResponse {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly refresh_expires_in: number;
  readonly token_type: string;
  readonly scope: string;
}

export const CLIENT_ID = "shoal-cluster";
/** What access tokens are for; their audience is the client id all the same, as the specification asks for. */
const RESOURCE = "urn:shoal:cluster";
const ACCESS_SECONDS = 60;
const REFRESH_SECONDS = 1_800;

export function makeIssuerKey(id: string): IssuerKey {
  return { id, ...generateKeyPairSync("rsa", { modulusLength: 2048 }) };
}

/**
 * A real OpenID Connect provider on a port of its own. It can go down, come back at the same address, and come back with
 * other keys; accounts, and the refresh tokens it has handed out, survive that.
 */
export class OidcIssuer implements AsyncDisposable {
  /** By user name. */
  readonly accounts = new Map<string, Account>();
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  /** Seconds that the next access tokens live. */
  accessSeconds = ACCESS_SECONDS;
  #port = 0;
  #server: Server | undefined;

  /** An issuer that is up. */
  static async start(key: IssuerKey, port = 0): Promise<OidcIssuer> {
    const issuer = new OidcIssuer();
    issuer.#port = port;
    await issuer.up(key);
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Begins to answer, signing with the first key and publishing all of them. */
  async up(...keys: readonly [IssuerKey, ...IssuerKey[]]): Promise<void> {
    await this.down();
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    const callback = this.#provider(keys).callback();
    server.on("request", (request, response) => {
      this.asked.push(request.url ?? "");
      // A client that kept its connection would find it cut after the next restart.
      response.setHeader("Connection", "close");
      void callback(request, response);
    });
    this.#server = server;
  }

  /** Nobody listens at its address. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** The password grant, as the specification describes it; the token endpoint is found through discovery. */
  async login(username: string, password: string): Promise<TokenResponse> {
    return this.#token({ grant_type: "password", client_id: CLIENT_ID, username, password });
  }

  async refresh(refreshToken: string): Promise<TokenResponse> {
    return this.#token({ grant_type: "refresh_token", client_id: CLIENT_ID, refresh_token: refreshToken });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
  }

  async #token(form: Readonly<Record<string, string>>): Promise<TokenResponse> {
    const discovery = await fetch(`${this.url}/.well-known/openid-configuration`);
    const { token_endpoint } = (await discovery.json()) as { readonly token_endpoint: string };
    const answer = await fetch(token_endpoint, { method: "POST", body: new URLSearchParams(form) });
    if (answer.status !== 200) throw new Error(`${token_endpoint}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as TokenResponse;
  }

  #provider(keys: readonly IssuerKey[]): Provider {
    const provider = new Provider(this.url, {
      jwks: {
        keys: keys.map(({ id, privateKey }) => ({
          ...privateKey.export({ format: "jwk" }),
          kid: id,
          alg: "RS256",
          use: "sig",
        })),
      },
      clients: [
        {
          client_id: CLIENT_ID,
          token_endpoint_auth_method: "none",
          grant_types: ["password", "refresh_token"],
          response_types: [],
          redirect_uris: [],
        },
      ],
      scopes: ["openid", "offline_access", "profile", "email"],
      cookies: { keys: ["a secret of this test"] },
      findAccount: (_, id) => (this.accounts.has(id) ? { accountId: id, claims: () => ({ sub: id }) } : undefined),
      extraTokenClaims: (_, token) => {
        const account = "accountId" in token ? this.accounts.get(String(token.accountId)) : undefined;
        if (account === undefined) return undefined;
        const { email, emailVerified = true, groups } = account;
        return { email, ...(emailVerified === null ? {} : { email_verified: emailVerified }), groups };
      },
      ttl: { AccessToken: () => this.accessSeconds, RefreshToken: REFRESH_SECONDS, Grant: REFRESH_SECONDS },
      rotateRefreshToken: true,
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => RESOURCE,
          useGrantedResource: () => true,
          getResourceServerInfo: () => this.#resource(),
        },
      },
    });
    provider.registerGrantType<{ username?: string; password?: string }>(
      "password",
      (context) => this.#grant(provider, context),
      ["username", "password", "scope"],
    );
    return provider;
  }

  #resource() {
    return {
      audience: CLIENT_ID,
      scope: "openid offline_access profile email",
      accessTokenFormat: "jwt" as const,
      accessTokenTTL: this.accessSeconds,
      jwt: { sign: { alg: "RS256" as const } },
    };
  }

  /** The provider does not know the password grant, which OAuth 2.1 has given up; the hosted variant lives on it. */
  async #grant(
    provider: Provider,
    context: TokenEndpointGrantContext<{ username?: string; password?: string }>,
  ): Promise<void> {
    const { client, params } = context.oidc;
    const { username = "", password } = params;
    if (this.accounts.get(username)?.password !== password) throw new errors.InvalidGrant("wrong user or password");
    const scope = "profile email";
    const grant = new provider.Grant({ accountId: username, clientId: client.clientId });
    grant.addOIDCScope(scope);
    grant.addResourceScope(RESOURCE, scope);
    const shared = { client, accountId: username, grantId: await grant.save(), gty: "password", scope };
    const access = new provider.AccessToken(shared);
    access.resourceServer = new provider.ResourceServer(RESOURCE, this.#resource());
    const refresh = new provider.RefreshToken({ ...shared, resource: RESOURCE });
    context.body = {
      access_token: await access.save(),
      expires_in: access.expiration,
      refresh_token: await refresh.save(),
      refresh_expires_in: REFRESH_SECONDS,
      token_type: "bearer",
      "not-before-policy": 0,
      session_state: shared.grantId,
      scope,
    };
  }
}
