import type { Clock, Logger } from "@shoal/service-runtime";
import { type DiscoveryDocument, discoveryUrl, parseDiscovery } from "./discovery.js";
import type { JsonMembers } from "./json-web-token.js";
import { type KeySet, readKeySet } from "./key-set.js";
import type { DocumentReader } from "./read-document.js";
import { RefreshAllowance } from "./refresh-allowance.js";

export interface IssuerTimes {
  /** Document and keys are read again this long after they were: a withdrawn key is believed no longer than that. */
  readonly keysMs: number;
  /** Pauses between attempts that failed: from the first to the last, each double the one before. */
  readonly retryMsMin: number;
  readonly retryMsMax: number;
  /** How long keys are believed while the issuer cannot be asked. Tokens seldom live longer. */
  readonly keysTrustedMs: number;
}

export const ISSUER_TIMES: IssuerTimes = {
  keysMs: 30_000,
  retryMsMin: 1_000,
  retryMsMax: 10_000,
  keysTrustedMs: 3_600_000,
};

export interface IssuerParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly read: DocumentReader;
  readonly times?: IssuerTimes;
  /** Where the keys are; absent: where the discovery document says. */
  readonly keysUrl?: string | undefined;
  /** A key that was known is no longer published, or may no longer be believed. */
  readonly onKeysWithdrawn: () => void;
}

/**
 * What is known of an OpenID Connect issuer: its discovery document and its keys, read in the background from `start`
 * on, over and over. An issuer that does not answer is asked again; nothing here fails because of it.
 */
export class Issuer implements Disposable {
  readonly #times: IssuerTimes;
  readonly #stopping = new AbortController();
  readonly #allowance: RefreshAllowance;
  #discovery: DiscoveryDocument | undefined;
  #keys: KeySet | undefined;
  #keysMs = 0;
  /** In a row; undefined before the first attempt has ended. */
  #failures: number | undefined;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly url: string,
    private readonly parts: IssuerParts,
  ) {
    this.#times = parts.times ?? ISSUER_TIMES;
    this.#allowance = new RefreshAllowance(parts.clock);
  }

  /** Begins to read. */
  start(): void {
    this.#reading ??= this.#readAll();
  }

  /** The discovery document as it was last read. */
  get document(): JsonMembers | undefined {
    return this.#discovery?.members;
  }

  /** The keys to verify tokens with; undefined until they are read, and when they are too old to be believed. */
  get keys(): KeySet | undefined {
    if (this.#keys === undefined) return undefined;
    const ageMs = this.parts.clock.now() - this.#keysMs;
    return ageMs < this.#times.keysTrustedMs ? this.#keys : undefined;
  }

  /** Whether the last attempt to read the keys succeeded. */
  get isResponding(): boolean {
    return this.#failures === 0;
  }

  /** When it is worth asking again after `keys` or `document` were undefined. */
  get retryAfterSeconds(): number {
    return Math.ceil(this.#pauseMs() / 1000);
  }

  /**
   * Reads the keys again because a token names one that is not among them, unless that was done too often lately: whoever
   * invents key ids must not make us ask the issuer for each. A reading that is under way is shared.
   */
  async lookAgain(): Promise<void> {
    if (this.#reading === undefined && !this.#stopping.signal.aborted && this.#allowance.take()) {
      this.#reading = this.#readAll();
    }
    await this.#reading;
  }

  [Symbol.dispose](): void {
    this.#stopping.abort();
    clearTimeout(this.#timer);
  }

  async #readAll(): Promise<void> {
    clearTimeout(this.#timer);
    let step = discoveryUrl(this.url);
    try {
      step = await this.#findKeys();
      await this.#readKeys(step);
      this.#succeed();
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#fail(step, error);
    }
    this.#reading = undefined;
    if (!this.#stopping.signal.aborted) this.#schedule();
  }

  /** Where the keys are. Where the settings say it, an issuer without a discovery document is one all the same. */
  async #findKeys(): Promise<string> {
    const { keysUrl, logger } = this.parts;
    if (keysUrl === undefined) return (await this.#readDiscovery()).keysUrl;
    await this.#readDiscovery().catch((error: unknown) => {
      this.#discovery ??= { members: { issuer: this.url, jwks_uri: keysUrl }, keysUrl };
      logger.debug({ issuer: this.url, reason: String(error) }, "the issuer's discovery document cannot be read");
    });
    return keysUrl;
  }

  async #readDiscovery(): Promise<DiscoveryDocument> {
    const document = await this.parts.read(discoveryUrl(this.url), this.#stopping.signal);
    this.#discovery = parseDiscovery(document, this.url);
    return this.#discovery;
  }

  async #readKeys(keysUrl: string): Promise<void> {
    // The keys are those of the moment in which they were asked for, at the latest.
    const now = this.parts.clock.now();
    const next = await readKeySet(await this.parts.read(keysUrl, this.#stopping.signal));
    const before = this.#keys;
    this.#keys = next;
    this.#keysMs = now;
    if (before?.hasKeyMissingIn(next)) this.parts.onKeysWithdrawn();
    if (next.keys.length === 0) {
      this.parts.logger.warn(
        { issuer: this.url, keysUrl },
        "the issuer publishes no key that tokens can be verified with",
      );
    }
  }

  #succeed(): void {
    const isNews = this.#failures !== 0;
    this.#failures = 0;
    this.parts.logger[isNews ? "info" : "debug"]({ issuer: this.url }, "the issuer's keys were read");
  }

  #fail(step: string, error: unknown): void {
    this.#failures = (this.#failures ?? 0) + 1;
    const reason = error instanceof Error ? error.message : String(error);
    const message = "the issuer cannot be asked; tokens that need it get 503";
    const fields = { issuer: this.url, document: step, reason, attempt: this.#failures };
    this.parts.logger[this.#failures === 1 ? "warn" : "debug"](fields, message);
    if (this.#keys !== undefined && this.keys === undefined) this.parts.onKeysWithdrawn();
  }

  #pauseMs(): number {
    if (this.#failures === 0) return this.#times.keysMs;
    const doublings = Math.max(0, (this.#failures ?? 0) - 1);
    return Math.min(this.#times.retryMsMin * 2 ** doublings, this.#times.retryMsMax);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.start(), this.#pauseMs());
    this.#timer.unref();
  }
}
