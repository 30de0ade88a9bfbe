import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const CLIENT_ID = "bench";
const KEY_ID = "bench-key";
/** As long as any run. */
const TOKEN_SECONDS = 24 * 3600;

/** An OpenID Connect issuer as far as a server needs one: its discovery document, one RSA key, and tokens. */
export class TokenIssuer implements Disposable {
  private constructor(
    private readonly server: Server,
    private readonly key: KeyObject,
    readonly url: string,
  ) {}

  static async start(): Promise<TokenIssuer> {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: KEY_ID, use: "sig", alg: "RS256" };
    server.on("request", (request, response) => {
      const document = request.url === "/keys" ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}/keys` };
      response.end(JSON.stringify(document));
    });
    return new TokenIssuer(server, privateKey, url);
  }

  /** The variables of a server that believes this issuer, has an admin list and lets nobody else in. */
  get settings(): Readonly<Record<string, string>> {
    return {
      REQUIRES_AUTHENTICATION: "true",
      AUTHENTICATION_OIDC_ISSUER: this.url,
      AUTHENTICATION_OIDC_CLIENT_ID: CLIENT_ID,
      AUTHENTICATION_OIDC_USERNAME_CLAIM: "email",
      AUTHENTICATION_OIDC_GROUPS_CLAIM: "groups",
      AUTHORIZATION_ADMINLIST_ENABLED: "true",
      AUTHORIZATION_ADMINLIST_USERS: "bench@example.com",
    };
  }

  /** A token of about the size that issuers make. */
  token(): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.url,
      aud: CLIENT_ID,
      exp: now + TOKEN_SECONDS,
      iat: now,
      sub: "6f0b2c1e-8a53-4d0c-9a43-1f1f2f3f4f5f",
      email: "bench@example.com",
      email_verified: true,
      groups: ["readers", "writers"],
      scope: "profile email",
    };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const input = `${part({ alg: "RS256", typ: "JWT", kid: KEY_ID })}.${part(claims)}`;
    return `${input}.${sign("sha256", Buffer.from(input), this.key).toString("base64url")}`;
  }

  [Symbol.dispose](): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
