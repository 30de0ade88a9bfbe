import { freePort, ServerProcess } from "../server-process.js";
import { CLIENT_ID, type IssuerKey, OidcIssuer } from "./oidc-issuer.js";

/** The variables of the hosted variant: nobody gets in without a token of the issuer. */
export function hostedSettings(issuerUrl: string): Readonly<Record<string, string>> {
  return {
    REQUIRES_AUTHENTICATION: "true",
    AUTHENTICATION_OIDC_ISSUER: issuerUrl,
    AUTHENTICATION_OIDC_CLIENT_ID: CLIENT_ID,
    AUTHENTICATION_OIDC_USERNAME_CLAIM: "email",
    AUTHENTICATION_OIDC_GROUPS_CLAIM: "groups",
  };
}

/** Accounts of the tests: a user for everything, a reader, and somebody whom no list names. */
export const ACCOUNTS = {
  alice: { password: "wonderland", email: "alice@example.com", groups: ["writers"] },
  rita: { password: "meter maid", email: "rita@example.com", groups: [] },
  mallory: { password: "in the middle", email: "mallory@example.com", groups: ["g1", 7, "g2"] },
} as const;

/** An issuer, and a server that believes it. */
export class GuardedServer implements AsyncDisposable {
  private constructor(
    readonly issuer: OidcIssuer,
    readonly server: ServerProcess,
  ) {}

  static async start(key: IssuerKey, env: Readonly<Record<string, string>> = {}): Promise<GuardedServer> {
    const issuer = await OidcIssuer.start(key, await freePort());
    for (const [name, account] of Object.entries(ACCOUNTS)) issuer.accounts.set(name, account);
    const server = await ServerProcess.start({ env: { ...hostedSettings(issuer.url), ...env } });
    const guarded = new GuardedServer(issuer, server);
    await guarded.untilTokensCount();
    return guarded;
  }

  /** The headers of a user. */
  async headersOf(name: keyof typeof ACCOUNTS): Promise<{ readonly Authorization: string }> {
    const { access_token } = await this.issuer.login(name, ACCOUNTS[name].password);
    return { Authorization: `Bearer ${access_token}` };
  }

  /** Waits until the server has read the issuer's keys: before that, tokens are 503. */
  async untilTokensCount(timeoutMs = 30_000): Promise<void> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const { status } = await this.server.http.get("/v1/meta", { Authorization: "Bearer x" });
      if (status === 401) return;
      if (Date.now() > until) throw new Error(`tokens are still ${status}\n${this.server.output.slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}
