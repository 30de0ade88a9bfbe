import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "@shoal/service-runtime";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeKey } from "../testing/forged-tokens.js";
import { StubIssuer } from "../testing/stub-issuer.js";
import { ISSUER_TIMES, Issuer, type IssuerTimes } from "./issuer.js";

const [first, second] = [makeKey("first"), makeKey("second")];
let open: Issuer | undefined;

afterEach(() => open?.[Symbol.dispose]());

/** An issuer that is read by hand: its own rhythm is too slow to matter, unless the times say otherwise. */
function watch(stub: StubIssuer, times: Partial<IssuerTimes> = {}, keysUrl?: string) {
  const clock = { nowMs: 1_000_000, now: () => clock.nowMs };
  const withdrawn = vi.fn();
  const issuer = new Issuer(stub.url, {
    clock,
    logger: silentLogger,
    read: stub.read,
    onKeysWithdrawn: withdrawn,
    times: { ...ISSUER_TIMES, ...times },
    keysUrl,
  });
  open = issuer;
  return { issuer, clock, withdrawn };
}

const idsOf = (issuer: Issuer) => issuer.keys?.keys.map(({ id }) => id);

describe("an issuer", () => {
  it("is read from the start on, and again and again", async () => {
    const stub = new StubIssuer();
    stub.publish(first);
    const { issuer, withdrawn } = watch(stub, { keysMs: 5 });
    expect(issuer.keys).toBeUndefined();
    expect(issuer.document).toBeUndefined();
    issuer.start();
    await vi.waitFor(() => expect(idsOf(issuer)).toEqual(["first"]));
    expect(issuer.document).toEqual(stub.discovery);
    stub.publish(first, second);
    await vi.waitFor(() => expect(idsOf(issuer)).toEqual(["first", "second"]));
    expect(withdrawn).not.toHaveBeenCalled();
    stub.publish(second);
    await vi.waitFor(() => expect(idsOf(issuer)).toEqual(["second"]));
    expect(withdrawn).toHaveBeenCalledTimes(1);
    stub.keys = { keys: [] };
    await vi.waitFor(() => expect(idsOf(issuer)).toEqual([]));
    expect(withdrawn).toHaveBeenCalledTimes(2);
  });

  it("whose keys are named by the settings needs no discovery document", async () => {
    const stub = new StubIssuer();
    const document = stub.discovery;
    stub.publish(first);
    stub.discovery = new Error("404");
    const { issuer } = watch(stub, { keysMs: 5 }, stub.keysUrl);
    issuer.start();
    await vi.waitFor(() => expect(idsOf(issuer)).toEqual(["first"]));
    expect(issuer.document).toEqual({ issuer: stub.url, jwks_uri: stub.keysUrl });
    // Where there is one, it may say what it likes about the keys.
    stub.discovery = { ...(document as object), jwks_uri: "https://elsewhere.test/keys" };
    await vi.waitFor(() => expect(issuer.document).toMatchObject({ token_endpoint: `${stub.url}/token` }));
    expect(idsOf(issuer)).toEqual(["first"]);
    expect(stub.asked).not.toContain("https://elsewhere.test/keys");
  });

  it("is asked again after growing pauses while it does not answer", async () => {
    const stub = new StubIssuer();
    const document = stub.discovery;
    stub.discovery = new Error("connect ECONNREFUSED");
    const { issuer } = watch(stub, { retryMsMin: 2, retryMsMax: 8 });
    issuer.start();
    await vi.waitFor(() => expect(stub.asked.length).toBeGreaterThan(4));
    expect(issuer.isResponding).toBe(false);
    expect(issuer.retryAfterSeconds).toBe(1);
    stub.discovery = document;
    stub.publish(first);
    await vi.waitFor(() => expect(idsOf(issuer)).toEqual(["first"]));
    expect(issuer.isResponding).toBe(true);
  });

  it("keeps its keys while it does not answer, but not for ever", async () => {
    const stub = new StubIssuer();
    stub.publish(first);
    const { issuer, clock, withdrawn } = watch(stub);
    await issuer.lookAgain();
    stub.keys = new Error("gone");
    clock.nowMs += ISSUER_TIMES.keysTrustedMs - 1;
    await issuer.lookAgain();
    expect(idsOf(issuer)).toEqual(["first"]);
    expect(issuer.isResponding).toBe(false);
    expect(withdrawn).not.toHaveBeenCalled();
    clock.nowMs += 1;
    expect(issuer.keys).toBeUndefined();
    await issuer.lookAgain();
    expect(withdrawn).toHaveBeenCalled();
    expect(issuer.document).toBeDefined();
  });

  it.each([
    [{ issuer: "https://issuer.test/realm/", jwks_uri: "https://issuer.test/realm/keys" }],
    [{ issuer: "https://evil.test", jwks_uri: "https://issuer.test/realm/keys" }],
    [{ jwks_uri: "https://issuer.test/realm/keys" }],
    [{ issuer: "https://issuer.test/realm", jwks_uri: "http://issuer.test/realm/keys" }],
    [{ issuer: "https://issuer.test/realm", jwks_uri: "file:///etc/passwd" }],
    [{ issuer: "https://issuer.test/realm", jwks_uri: "keys" }],
    [{ issuer: "https://issuer.test/realm" }],
    [[]],
    [null],
    ["text"],
  ])("is not believed when its document is %j", async (document) => {
    const stub = new StubIssuer();
    stub.publish(first);
    stub.discovery = document;
    const { issuer } = watch(stub);
    await issuer.lookAgain();
    expect(issuer.keys).toBeUndefined();
    expect(issuer.document).toBeUndefined();
    expect(stub.keyReadings).toBe(0);
  });

  it("is asked a few times at once for unknown keys, then now and then", async () => {
    const stub = new StubIssuer();
    stub.publish(first);
    const { issuer, clock } = watch(stub);
    for (let i = 0; i < 100; i++) await issuer.lookAgain();
    expect(stub.keyReadings).toBe(3);
    for (let seconds = 0; seconds < 60; seconds++) {
      clock.nowMs += 1_000;
      await issuer.lookAgain();
    }
    expect(stub.keyReadings).toBe(3 + 6);
  });

  it("is asked once for many who ask at the same time", async () => {
    const stub = new StubIssuer();
    stub.publish(first);
    const { issuer } = watch(stub);
    await Promise.all(Array.from({ length: 50 }, () => issuer.lookAgain()));
    expect(stub.keyReadings).toBe(1);
  });

  it("is asked nothing more at the end", async () => {
    const stub = new StubIssuer();
    let go = (): void => {};
    stub.delay = new Promise((resolve) => {
      go = resolve;
    });
    const { issuer } = watch(stub, { keysMs: 1, retryMsMin: 1, retryMsMax: 1 });
    issuer.start();
    issuer[Symbol.dispose]();
    go();
    await sleep(20);
    await issuer.lookAgain();
    expect(stub.asked.length).toBe(1);
  });
});
