import "reflect-metadata";
import { randomUUID, webcrypto } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { MetaState } from "../meta-store.js";
import { EtcdMembers, type EtcdMembersOptions, HAS_ETCD } from "../testing/etcd-members.js";
import { EtcdMetaStore, type EtcdMetaStoreOptions } from "./etcd-meta-store.js";

const context = { deadline: Number.POSITIVE_INFINITY };

const ends: AsyncDisposable[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end[Symbol.asyncDispose]();
});

async function startMembers(options: EtcdMembersOptions): Promise<EtcdMembers> {
  const members = await EtcdMembers.start(options);
  ends.push(members);
  return members;
}

async function open(members: EtcdMembers, more: Partial<EtcdMetaStoreOptions> = {}): Promise<EtcdMetaStore> {
  const options = { endpoints: members.endpoints, prefix: "/faults", nowMs: Date.now, newId: randomUUID };
  const store = await EtcdMetaStore.open({ ...options, onLost: (error) => expect.unreachable(error.message), ...more });
  ends.push(store);
  return store;
}

/** Commits until it is done, by anybody's count: what was not answered may have been made. */
async function commitSurely(store: EtcdMetaStore, key: string): Promise<void> {
  for (;;) {
    try {
      const { revision, entries } = await store.load(context);
      if (entries.has(key) || (await store.commit(revision, [{ key, value: revision }], context)) !== undefined) return;
    } catch (error) {
      expect(error).toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
    }
  }
}

/** A certificate of 127.0.0.1 that is its own authority, and good for servers and clients. */
async function selfSigned() {
  const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
  const extensions = [
    new BasicConstraintsExtension(true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    new SubjectAlternativeNameExtension([{ type: "ip", value: "127.0.0.1" }]),
  ];
  const options = { name: "CN=etcd", keys, signingAlgorithm, extensions, notAfter: new Date(Date.now() + 86_400_000) };
  const certificate = await X509CertificateGenerator.createSelfSigned(options, webcrypto);
  const cert = Buffer.from(certificate.toString("pem"));
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  const key = Buffer.from(PemConverter.encode(pkcs8, "PRIVATE KEY"));
  const folder = await mkdtemp(join(tmpdir(), "shoal-etcd-tls-"));
  ends.push({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) });
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  return { cert, key, certFile, keyFile };
}

function watched(store: EtcdMetaStore): readonly MetaState[] {
  const states: MetaState[] = [];
  store.watch((state) => states.push(state));
  return states;
}

describe.skipIf(!HAS_ETCD)("when etcd fails (needs etcd)", () => {
  test.each(["SIGKILL", "SIGSTOP"] as const)("all of it (%s): an error, and on afterwards", async (signal) => {
    const members = await startMembers({ count: 1 });
    const store = await open(members);
    await store.commit(0, [{ key: "k", value: 1 }], context);
    await members.signal(0, signal);
    const refusal = {
      code: "unavailable",
      // What gRPC says of its own insides is nobody's business.
      message: expect.toSatisfy(
        (text: string) =>
          text.startsWith(`etcd (${members.endpoints[0]}) cannot be reached: `) &&
          !/DEADLINE|Resolution note/.test(text),
      ),
    };
    await expect(store.load(context)).rejects.toMatchObject(refusal);
    await expect(store.commit(1, [{ key: "k", value: 2 }], context)).rejects.toMatchObject(refusal);
    await expect(store.load({ deadline: Date.now() + 100 })).rejects.toMatchObject(refusal);
    await expect(open(members)).rejects.toMatchObject(refusal);
    if (signal === "SIGKILL") await members.run(0);
    else await members.signal(0, "SIGCONT");
    await commitSurely(store, "after");
    expect((await (await open(members)).load(context)).entries.has("after")).toBe(true);
  });

  test("the leader, again and again: what was answered stays, everybody sees one line", async () => {
    const members = await startMembers({ count: 3 });
    const stores = await Promise.all([open(members), open(members), open(members)]);
    const histories = stores.map(watched);
    let isOver = false;
    const writing = stores.map(async (store, at) => {
      const written: string[] = [];
      while (!isOver) {
        const key = `${at}/${written.length}`;
        await commitSurely(store, key);
        written.push(key);
      }
      return written;
    });
    for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
      const leader = await members.leader();
      await members.signal(leader, signal);
      const { length } = histories[0] ?? [];
      await expect.poll(() => (histories[0] ?? []).length).toBeGreaterThan(length + 10);
      if (signal === "SIGKILL") await members.run(leader);
      else await members.signal(leader, "SIGCONT");
    }
    isOver = true;
    const written = (await Promise.all(writing)).flat();
    const final = await stores[0]?.load(context);
    expect([...(final?.entries.keys() ?? [])].sort()).toEqual([...written].sort());
    for (const states of histories) {
      const revisions = states.map(({ revision }) => revision);
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
      // Each state is the final one, cut off: every key holds the revision that it was committed on.
      for (const { revision, entries } of states) {
        const earlier = [...(final?.entries ?? [])].filter(([, value]) => Number(value) < revision);
        expect(entries).toEqual(new Map(earlier));
      }
    }
  });

  test("one of three that hangs is passed over", async () => {
    const members = await startMembers({ count: 3 });
    const store = await open(members);
    const leader = await members.leader();
    await members.signal((leader + 1) % 3, "SIGSTOP");
    for (let made = 0; made < 20; made++) await commitSurely(store, String(made));
    expect((await store.load(context)).revision).toBe(20);
    await members.signal((leader + 1) % 3, "SIGCONT");
  });

  test("certificates on both sides", async () => {
    const { cert, key, certFile, keyFile } = await selfSigned();
    const flags = [
      `--cert-file=${certFile}`,
      `--key-file=${keyFile}`,
      "--client-cert-auth",
      `--trusted-ca-file=${certFile}`,
    ];
    const members = await startMembers({ scheme: "https", flags });
    const store = await open(members, { ca: cert, cert, key });
    const states = watched(await open(members, { ca: cert, cert, key }));
    await commitSurely(store, "k");
    await expect.poll(() => states.at(-1)?.entries.has("k")).toBe(true);
    await expect(open(members, { ca: cert })).rejects.toMatchObject({ code: "unavailable" });
    await expect(open(members)).rejects.toMatchObject({ code: "unavailable" });
    const other = await selfSigned();
    await expect(open(members, { ca: other.cert, cert, key })).rejects.toMatchObject({ code: "unavailable" });
  });

  test("certificates that are renewed: the former may expire", async () => {
    const [former, later] = [await selfSigned(), await selfSigned()];
    const trusted = join(dirname(former.certFile), "trusted.pem");
    await writeFile(trusted, `${former.cert}\n${later.cert}\n`);
    const flags = [
      `--cert-file=${former.certFile}`,
      `--key-file=${former.keyFile}`,
      "--client-cert-auth",
      `--trusted-ca-file=${trusted}`,
    ];
    const members = await startMembers({ scheme: "https", flags });
    const ca = former.cert;
    const before = { ca, cert: former.cert, key: former.key };
    const [left, writer, watcher] = [
      await open(members, before),
      await open(members, before),
      await open(members, before),
    ];
    const states = watched(watcher);
    await commitSurely(writer, "before");
    for (const store of [writer, watcher]) store.renew({ ca, cert: later.cert, key: later.key });
    // What changes while the watches begin again is not missed.
    for (let made = 0; made < 20; made++) await commitSurely(writer, `during ${made}`);
    await expect.poll(() => states.at(-1)?.revision).toBe(21);
    await members.signal(0, "SIGKILL");
    await writeFile(trusted, later.cert);
    await members.run(0);
    await commitSurely(writer, "after");
    await expect.poll(() => states.at(-1)?.entries.has("after")).toBe(true);
    const revisions = states.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    await expect(left.load(context)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("users and passwords", async () => {
    const members = await startMembers({ count: 1 });
    const credentials = { username: "root", password: "secret" };
    await members.operate(async (client) => {
      await client.role("root").create();
      await client.user("root").create("secret");
      await client.user("root").addRole("root");
      await client.auth.authEnable();
    });
    await expect(open(members)).rejects.toMatchObject({ code: "unavailable" });
    // Passwords cost etcd time: on a machine that stands still it answers too late.
    const refusal = () => open(members, { ...credentials, password: "wrong" }).catch((thrown: unknown) => thrown);
    await expect.poll(refusal).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("authentication failed"),
    });
    const [store, other] = await vi.waitFor(
      () => Promise.all([open(members, credentials), open(members, credentials)]),
      60_000,
    );
    const states = watched(other);
    await commitSurely(store, "k");
    await expect.poll(() => states.length).toBe(1);
    // Tokens of etcd do not outlive it.
    await members.signal(0, "SIGKILL");
    await members.run(0);
    await commitSurely(store, "later");
    await expect.poll(() => states.at(-1)?.entries.has("later")).toBe(true);
  });
});
