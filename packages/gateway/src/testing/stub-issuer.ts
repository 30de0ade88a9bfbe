import { discoveryUrl } from "../auth/discovery.js";
import type { DocumentReader } from "../auth/read-document.js";
import { publicJwk, type TestKey } from "./forged-tokens.js";

/** An issuer without a network: what it publishes can be changed at any time, and what was asked of it is counted. */
export class StubIssuer {
  readonly url = "https://issuer.test/realm";
  readonly keysUrl = "https://issuer.test/realm/keys";
  /** Every URL that was read, in order. */
  readonly asked: string[] = [];
  /** What the two documents are; an Error is thrown. */
  discovery: unknown = { issuer: this.url, jwks_uri: this.keysUrl, token_endpoint: `${this.url}/token` };
  keys: unknown = { keys: [] };
  /** Answers wait for it. */
  delay: Promise<void> = Promise.resolve();

  /** Publishes these keys and no other. */
  publish(...keys: readonly TestKey[]): void {
    this.keys = { keys: keys.map((key) => publicJwk(key)) };
  }

  get keyReadings(): number {
    return this.asked.filter((url) => url === this.keysUrl).length;
  }

  readonly read: DocumentReader = async (url, signal) => {
    this.asked.push(url);
    await this.delay;
    signal.throwIfAborted();
    const document = url === discoveryUrl(this.url) ? this.discovery : url === this.keysUrl ? this.keys : undefined;
    if (document === undefined) throw new Error(`nobody answers at ${url}`);
    if (document instanceof Error) throw document;
    return structuredClone(document);
  };
}
