import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { describe, expect, it } from "vitest";
import { issue, makeKey, publicJwk } from "../testing/forged-tokens.js";
import { BAD_SIGNATURE, readyVerifierOf, verdict, verifierOf } from "../testing/token-verifiers.js";
import { ISSUER_TIMES } from "./issuer.js";
import { VERIFIED_MS_MAX } from "./verified-tokens.js";

const rsa = makeKey("rsa", "rsa");
const ec = makeKey("ec", "P-256");
const setUp = () => verifierOf([rsa, ec]);
const ready = (checks?: Parameters<typeof readyVerifierOf>[1]) => readyVerifierOf([rsa, ec], checks);
const refused = (message: string) => expect.objectContaining({ code: "unauthenticated", message });
const unavailable = expect.objectContaining({ code: "unavailable" });

describe("keys that change", () => {
  it("a new key is found by the first token that is signed with it", async () => {
    const { verifier, claims, stub } = await ready();
    const next = makeKey("next");
    stub.publish(rsa, ec, next);
    expect(await verdict(verifier, issue(next, claims))).toMatchObject({ username: "alice" });
  });

  it("a new key is found without an id, too", async () => {
    const { verifier, claims, stub } = await ready();
    const next = makeKey("next");
    stub.keys = { keys: [publicJwk(next, { kid: undefined })] };
    expect(await verdict(verifier, issue(next, claims, { kid: undefined }))).toMatchObject({ username: "alice" });
  });

  it("invented ids neither make the issuer work nor keep a new key out", async () => {
    const { verifier, claims, stub, clock } = await ready();
    for (let i = 0; i < 200; i++) {
      await expect(verdict(verifier, issue(ec, claims, { kid: `invented-${i}` }))).rejects.toThrow(BAD_SIGNATURE);
    }
    expect(stub.keyReadings).toBeLessThan(6);
    const next = makeKey("next");
    stub.publish(next);
    // In the midst of the flood, at the next reading.
    clock.nowMs += 10_000;
    await expect(verdict(verifier, issue(ec, claims, { kid: "invented" }))).rejects.toThrow(BAD_SIGNATURE);
    expect(await verdict(verifier, issue(next, claims))).toMatchObject({ username: "alice" });
  });

  it("tokens of a withdrawn key are refused as soon as that is known, those that were verified included", async () => {
    const { verifier, claims, stub, issuer } = await ready();
    const token = issue(ec, claims);
    await verdict(verifier, token);
    stub.publish(rsa);
    await issuer.lookAgain();
    await expect(verdict(verifier, token)).rejects.toThrow(refused(BAD_SIGNATURE));
    expect(ISSUER_TIMES.keysMs + VERIFIED_MS_MAX / 2).toBeLessThanOrEqual(60_000);
  });

  it("a token that was verified with keys that have been replaced meanwhile is not remembered", async () => {
    let go = (): void => {};
    const turn = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { verifier, claims, stub, issuer, verified } = await ready({ nextStep: () => turn });
    const verdictOfOld = verdict(verifier, issue(ec, claims));
    stub.publish(rsa);
    await issuer.lookAgain();
    go();
    expect(await verdictOfOld).toMatchObject({ username: "alice" });
    expect(verified.size).toBe(0);
    await expect(verdict(verifier, issue(ec, claims))).rejects.toThrow(refused(BAD_SIGNATURE));
  });
});

describe("an issuer that does not answer", () => {
  it("costs every token a 503 as long as no key is known", async () => {
    const { verifier, claims, stub, issuer } = setUp();
    stub.discovery = new Error("down");
    await issuer.lookAgain();
    for (const token of [issue(ec, claims), "garbage"]) {
      await expect(verdict(verifier, token)).rejects.toThrow(unavailable);
    }
    await expect(verdict(verifier, "garbage")).rejects.toMatchObject({ retryAfterSeconds: 1 });
  });

  it("costs tokens of known keys nothing, those of unknown ones a 503", async () => {
    const { verifier, claims, stub, issuer } = await ready();
    stub.keys = new Error("down");
    await issuer.lookAgain();
    expect(await verdict(verifier, issue(ec, claims))).toMatchObject({ username: "alice" });
    await expect(verdict(verifier, issue(makeKey("next"), claims))).rejects.toThrow(unavailable);
    await expect(verdict(verifier, issue(makeKey("ec"), claims))).rejects.toThrow(refused(BAD_SIGNATURE));
  });

  it("holds up no more than a number of requests that wait for its keys", async () => {
    const { verifier, claims, stub } = await ready();
    let go = (): void => {};
    stub.delay = new Promise((resolve) => {
      go = resolve;
    });
    const next = makeKey("next");
    const verdicts = Array.from({ length: 400 }, (_, i) => verdict(verifier, issue(next, { ...claims, i })));
    const early = await Promise.race([...verdicts.map((one) => one.catch((error) => error)), undefined]);
    expect(early).toBeUndefined();
    await expect(verdicts[399]).rejects.toThrow(unavailable);
    // A token of a known key does not wait for them.
    expect(await verdict(verifier, issue(ec, claims))).toMatchObject({ username: "alice" });
    stub.publish(next);
    go();
    const ends = await Promise.allSettled(verdicts);
    expect(ends.filter(({ status }) => status === "fulfilled").length).toBe(250);
  });
});

describe("a flood", () => {
  it("of well-formed tokens is refused beyond a number that waits, and what waits is served one per iteration", async () => {
    const { verifier, claims, stub } = await ready({ waitingForCheckMax: 19 });
    const stranger = makeKey("ec");
    using counter = new LoopCounter();
    const flood = Array.from({ length: 50 }, (_, i) => verdict(verifier, issue(stranger, { ...claims, i })));
    const ends = await Promise.allSettled(flood);
    const reasons = ends.map((end) => (end.status === "rejected" ? end.reason.code : "accepted"));
    expect(reasons.filter((code) => code === "overloaded").length).toBe(30);
    expect(reasons.filter((code) => code === "unauthenticated").length).toBe(20);
    // Each signature has an iteration of its own, in which others are served.
    expect(counter.iterations).toBeGreaterThanOrEqual(20);
    expect(stub.keyReadings).toBe(1);
    expect(await verdict(verifier, issue(ec, claims))).toMatchObject({ username: "alice" });
  });

  it("S10: from one address does not keep the tokens of another one out", async () => {
    const { verifier, claims } = await ready({ waitingForCheckMax: 19 });
    const stranger = makeKey("ec");
    const order: string[] = [];
    const check = async (owner: string, token: string) => {
      const end = await Promise.allSettled([verdict(verifier, token, { owner, connection: 0 })]);
      order.push(`${owner} ${end[0].status}`);
    };
    const flood = Array.from({ length: 50 }, (_, i) => check("flood", issue(stranger, { ...claims, i })));
    await Promise.all([...flood, check("other", issue(ec, claims))]);
    // Those without room are refused first: 30 for themselves and one for the other.
    expect(order.indexOf("other fulfilled")).toBeLessThan(31 + 3);
  });
});
