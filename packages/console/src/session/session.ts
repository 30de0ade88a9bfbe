import { ServerError } from "../api/server-error.js";
import { Source } from "../source.js";
import { isTaken, keepApiKey, keptApiKey } from "./api-key.js";
import {
  authorizationUrl,
  findSignInMethods,
  type Issuer,
  isRefusal,
  newSignInRequest,
  reasonOf,
  redeemCode,
  refreshTokens,
  revokeToken,
  signOutUrl,
} from "./issuer.js";
import { keepSignInRequest, takeSignInRequest } from "./sign-in-request.js";
import { keepTokens, keptTokens, type TokenResponse, type Tokens, tokensOf } from "./tokens.js";

export type SessionState =
  | { readonly kind: "starting" }
  /** Nobody is asked to sign in, or somebody chose to go on without. */
  | { readonly kind: "open"; readonly canSignIn: boolean }
  | { readonly kind: "signedIn"; readonly name: string }
  | {
      readonly kind: "signedOut";
      readonly reason: string | undefined;
      readonly canGoOnWithout: boolean;
      readonly withIssuer: boolean;
      readonly withKey: boolean;
    }
  /** The server could not say whether people sign in. */
  | { readonly kind: "unreachable"; readonly error: ServerError };

/** The browser, as far as a session touches it. */
export interface SessionBrowser {
  readonly storage: Storage;
  readonly now: () => number;
  readonly address: () => URL;
  /** Goes to another page. */
  readonly leave: (url: URL) => void;
  /** Changes the address without loading anything. */
  readonly showAddress: (pathAndFragment: string) => void;
}

const CONSOLE_PATH = "/console";
const SIGNED_OUT_KEY = "shoal.console.signed-out";
/** A token that ends sooner than this is renewed before it is used. */
const RENEW_BEFORE_MS = 10_000;

/** The server does not say whose a key is. */
const KEY_NAME = "API key";

/** Who is signed in, and the token or key of his requests. */
export class Session extends Source<SessionState> {
  readonly #browser: SessionBrowser;
  #issuer: Issuer | undefined;
  #tokens: Tokens | undefined;
  #takesKeys = false;
  #key: string | undefined;
  #refreshing: Promise<string> | undefined;

  constructor(browser: SessionBrowser) {
    super({ kind: "starting" });
    this.#browser = browser;
  }

  /** Finds out whether people sign in here, and takes them to the issuer unless they are signed in or have just left. */
  async start(): Promise<void> {
    this.become({ kind: "starting" });
    try {
      const { issuer, takesKeys } = await findSignInMethods();
      this.#issuer = issuer;
      this.#takesKeys = takesKeys;
      this.#key = takesKeys ? keptApiKey(this.#browser.storage) : undefined;
    } catch (error) {
      return this.become({ kind: "unreachable", error: ServerError.from(error) });
    }
    const address = this.#browser.address();
    const hasResponse = ["code", "error"].some((name) => address.searchParams.has(name));
    if (this.#key !== undefined) return this.become({ kind: "signedIn", name: KEY_NAME });
    if (this.#issuer === undefined) return this.#startWithoutIssuer();
    if (hasResponse && address.searchParams.has("state")) return this.#finishSignIn(this.#issuer, address);
    this.#tokens = keptTokens(this.#browser.storage, this.#issuer.server.issuer);
    if (this.#tokens !== undefined) return this.become({ kind: "signedIn", name: this.#tokens.name });
    if (this.#browser.storage.getItem(SIGNED_OUT_KEY) !== null) return this.#showSignedOut("You have signed out.");
    if (this.#takesKeys) return this.#showSignedOut(undefined);
    await this.signIn();
  }

  /** Asks for a key where the server takes some, else goes to the issuer. */
  async chooseSignIn(): Promise<void> {
    if (this.#takesKeys) await this.#showSignedOut(undefined);
    else await this.signIn();
  }

  /** Signs in with an API key, if the server takes it. */
  async useKey(text: string): Promise<void> {
    const key = text.trim();
    if (key === "") return;
    const taken = await isTaken(key);
    if (taken === undefined) return this.#showSignedOut("The server cannot be asked for the key at the moment.");
    if (!taken) return this.#showSignedOut("The server does not take this key.");
    this.#forget();
    this.#key = key;
    keepApiKey(this.#browser.storage, key);
    this.#browser.storage.removeItem(SIGNED_OUT_KEY);
    this.become({ kind: "signedIn", name: KEY_NAME });
  }

  /** To the issuer's login page. */
  async signIn(): Promise<void> {
    const { address, leave, now, storage } = this.#browser;
    if (this.#issuer === undefined) return this.start();
    storage.removeItem(SIGNED_OUT_KEY);
    try {
      const request = newSignInRequest(address().hash, now());
      const url = await authorizationUrl(this.#issuer, request, this.#consoleUri());
      keepSignInRequest(storage, request);
      leave(url);
    } catch (error) {
      const isSecure = globalThis.crypto?.subtle !== undefined;
      await this.#showSignedOut(
        isSecure
          ? `Signing in failed: ${reasonOf(error)}`
          : "Signing in needs https (or localhost): browsers offer cryptography nowhere else.",
      );
    }
  }

  /** Forgets the tokens, then goes where the issuer ends its session. */
  async signOut(): Promise<void> {
    const tokens = this.#tokens;
    this.#forget();
    this.#browser.storage.setItem(SIGNED_OUT_KEY, "yes");
    const issuer = this.#issuer;
    if (issuer === undefined || tokens === undefined) return this.#showSignedOut("You have signed out.");
    if (tokens.refreshToken !== undefined) await revokeToken(issuer, tokens.refreshToken);
    const url = signOutUrl(issuer, tokens.idToken, this.#consoleUri());
    if (url === undefined) await this.#showSignedOut("You have signed out here; your issuer may still know you.");
    else this.#browser.leave(url);
  }

  /** As `anonymous`, where the server lets him in. */
  goOnWithout(): void {
    this.become({ kind: "open", canSignIn: true });
  }

  /** The token to send; undefined when there is none to send. Renews one that is about to end. */
  async token(): Promise<string | undefined> {
    if (this.#key !== undefined) return this.#key;
    const tokens = this.#tokens;
    if (tokens === undefined) return undefined;
    if (this.#browser.now() < tokens.expiresAt - RENEW_BEFORE_MS) return tokens.bearer;
    if (tokens.refreshToken !== undefined) return this.renew(tokens.bearer, "Your session has ended.");
    if (this.#browser.now() < tokens.expiresAt) return tokens.bearer;
    return this.#fail("Your session has ended.");
  }

  /** Another token instead of the one that was refused. Fails with ServerError, and ends the session, when there is none. */
  async renew(refused: string, reason: string): Promise<string> {
    if (this.#key !== undefined) return this.#key === refused ? this.#fail(reason) : this.#key;
    const tokens = this.#tokens;
    if (tokens !== undefined && tokens.bearer !== refused) return tokens.bearer;
    if (this.#issuer === undefined || tokens?.refreshToken === undefined) return this.#fail(reason);
    this.#refreshing ??= this.#refresh(this.#issuer, tokens, tokens.refreshToken).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** The server does not take the tokens of this session. */
  end(reason: string): void {
    this.#forget();
    void this.#showSignedOut(reason);
  }

  async #refresh(issuer: Issuer, tokens: Tokens, refreshToken: string): Promise<string> {
    let response: TokenResponse;
    try {
      response = await refreshTokens(issuer, refreshToken);
    } catch (error) {
      if (this.#tokens !== tokens) throw endedMeanwhile();
      if (isRefusal(error)) return this.#fail("Your session has ended.");
      throw new ServerError(503, `your token could not be renewed: ${reasonOf(error)}`);
    }
    const renewed = tokensOf(response, tokens, issuer.server.issuer, this.#browser.now());
    if (this.#tokens !== tokens) {
      // Who has signed out stays so, and the issuer is told of the token that he does not know of.
      if (renewed?.refreshToken !== undefined) await revokeToken(issuer, renewed.refreshToken);
      throw endedMeanwhile();
    }
    if (renewed === undefined) return this.#fail("The issuer gave no token that the server understands.");
    this.#keep(renewed);
    return renewed.bearer;
  }

  async #finishSignIn(issuer: Issuer, address: URL): Promise<void> {
    const { now, showAddress, storage } = this.#browser;
    const request = takeSignInRequest(storage, now());
    // The code is of no more use, and belongs neither into the history nor into a bookmark.
    showAddress(`${CONSOLE_PATH}${request?.fragment ?? ""}`);
    if (request === undefined) {
      return this.#showSignedOut("This sign-in was not begun in this tab, or too long ago.");
    }
    try {
      const response = await redeemCode(issuer, request, address, this.#consoleUri());
      const tokens = tokensOf(response, undefined, issuer.server.issuer, now());
      if (tokens === undefined) throw new Error("the issuer gave no token that the server understands (no JWT)");
      this.#keep(tokens);
    } catch (error) {
      await this.#showSignedOut(`Signing in failed: ${reasonOf(error)}`);
    }
  }

  #keep(tokens: Tokens): void {
    this.#tokens = tokens;
    keepTokens(this.#browser.storage, tokens);
    this.become({ kind: "signedIn", name: tokens.name });
  }

  #forget(): void {
    this.#tokens = undefined;
    this.#key = undefined;
    keepApiKey(this.#browser.storage, undefined);
    keepTokens(this.#browser.storage, undefined);
  }

  #fail(reason: string): never {
    this.end(reason);
    throw new ServerError(401, reason);
  }

  /** Where no key is needed to look around, nobody is asked for one. */
  async #startWithoutIssuer(): Promise<void> {
    if (!this.#takesKeys) this.become({ kind: "open", canSignIn: false });
    else if ((await isTaken()) === true) this.become({ kind: "open", canSignIn: true });
    else await this.#showSignedOut(undefined);
  }

  async #showSignedOut(reason: string | undefined): Promise<void> {
    const ways = { withIssuer: this.#issuer !== undefined, withKey: this.#takesKeys };
    this.become({ kind: "signedOut", reason, canGoOnWithout: false, ...ways });
    if ((await isTaken()) === true && this.state.kind === "signedOut")
      this.become({ ...this.state, canGoOnWithout: true });
  }

  #consoleUri(): string {
    return this.#browser.address().origin + CONSOLE_PATH;
  }
}

function endedMeanwhile(): ServerError {
  return new ServerError(401, "the session has ended while its token was renewed");
}
