import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

export const CLIENT_ID = "shoal-console";
/** What its access tokens are for; their audience is the client id, which the server checks. */
const RESOURCE = "urn:shoal:cluster";

/** How the tokens of the next logins are. */
export interface TokenRules {
  accessSeconds: number;
  givesRefreshTokens: boolean;
  /** False: an opaque one, as many issuers give. */
  isAccessTokenJwt: boolean;
  audience: string;
}

const ORDINARY: TokenRules = {
  accessSeconds: 60,
  givesRefreshTokens: true,
  isAccessTokenJwt: true,
  audience: CLIENT_ID,
};

/** A real OpenID Connect provider with a login page, for one public client: the console. Any password is right. */
export class LoginIssuer implements AsyncDisposable {
  readonly url: string;
  rules: TokenRules = { ...ORDINARY };
  /** Methods and paths that were asked for, in order. */
  readonly asked: string[] = [];
  /** Where people may be sent back to; known when the server of the test has its port. */
  consoleUri = "";
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const callback = this.#provider().callback();
    server.on("request", (request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      void callback(request, response);
    });
  }

  static async start(): Promise<LoginIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new LoginIssuer(server);
  }

  /** Back to what issuers ordinarily do. */
  reset(): void {
    this.rules = { ...ORDINARY };
    this.asked.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #provider(): Provider {
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: CLIENT_ID,
          token_endpoint_auth_method: "none",
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          redirect_uris: ["http://127.0.0.1/console"],
        },
      ],
      claims: { openid: ["sub"], profile: ["preferred_username"] },
      cookies: { keys: ["a secret of this test"] },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: `${id} of the desk` }) }),
      conformIdTokenClaims: false,
      clientBasedCORS: (_, origin) => this.consoleUri.startsWith(`${origin}/`),
      ttl: { AccessToken: () => this.rules.accessSeconds, IdToken: () => this.rules.accessSeconds },
      rotateRefreshToken: true,
      issueRefreshToken: async () => this.rules.givesRefreshTokens,
      // Nobody is asked what the console may do: it is the server's own page.
      loadExistingGrant: async (context) => {
        const { client, session } = context.oidc;
        if (client === undefined || session?.accountId === undefined) return undefined;
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope("openid profile");
        grant.addResourceScope(RESOURCE, "openid profile");
        await grant.save();
        return grant;
      },
      features: {
        devInteractions: { enabled: true },
        revocation: { enabled: true },
        rpInitiatedLogout: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => (this.rules.isAccessTokenJwt ? RESOURCE : []),
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            audience: this.rules.audience,
            scope: "openid profile",
            accessTokenFormat: "jwt",
            accessTokenTTL: this.rules.accessSeconds,
            jwt: { sign: { alg: "RS256" } },
          }),
        },
      },
    });
    const isConsole = (uri: string): boolean => uri === this.consoleUri;
    provider.Client.prototype.redirectUriAllowed = isConsole;
    provider.Client.prototype.postLogoutRedirectUriAllowed = isConsole;
    return provider;
  }
}
