import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residentBytes } from "../process-figures.js";
import { ServerProcess } from "../server-process.js";
import { GuardedServer } from "../testing/guarded-server.js";
import { makeIssuerKey } from "../testing/oidc-issuer.js";
import { openSocket, percentile, saidTo } from "./raw-connection.js";

const MIB = 1024 * 1024;
const ID = "11111111-1111-4111-8111-111111111111";
const HEAVY_CLIENTS = fileURLToPath(new URL("../../dist/safety/heavy-clients.js", import.meta.url));
/** So long the victim asks, alone and beside each attack. `npm run nightly` takes longer. */
const SECONDS = Number(process.env.SHOAL_FAIR_SECONDS ?? 2);
const BOMB = gzipSync(Buffer.alloc(255 * MIB, " "));
/**
 * From so long on p99 means something, and each attack is also made on another server, on the same machine: attackers and victim
 * share its cores and its disk, whomever they ask.
 */
const LONG_SECONDS = 10;
/** A victim's p99 may be so many times what it is when he is alone, or beside that other server, whichever is more. */
const P99_RATIO_MAX = 3;
/** A server on a machine that is busy may take this long; before, it took minutes, or refused. */
const P99_MS_MAX = 3_000;

type Headers = Readonly<Record<string, string>>;

const POST = (headers: Headers, length: number, more = ""): string =>
  `POST /v1/batch/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}Content-Length: ${length}\r\n${more}\r\n`;

/** Somebody who asks for little, again and again, on connections that he keeps, one request at a time. */
class Victim {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2 });

  constructor(
    readonly port: number,
    readonly headers: Headers = {},
  ) {}

  /** Milliseconds that each request took. Fails when one is refused. */
  async askFor(seconds: number): Promise<readonly number[]> {
    const times: number[] = [];
    const until = Date.now() + seconds * 1000;
    for (let i = 0; Date.now() < until || times.length < 30; i++) {
      const begun = performance.now();
      const status = i % 3 === 2 ? await this.post(i) : i % 3 === 1 ? await this.nearVector() : await this.get();
      expect(status).toBe(200);
      times.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return times;
  }

  get(): Promise<number> {
    return this.#send("GET", `/v1/objects/${ID}`);
  }

  nearVector(): Promise<number> {
    const vector = JSON.stringify(Array.from({ length: 100 }, (_, at) => Math.sin(at)));
    const query = `{ Get { Item(limit: 10, nearVector: { vector: ${vector} }) { name _additional { id } } } }`;
    return this.#send("POST", "/v1/graphql", { query });
  }

  post(number: number): Promise<number> {
    return this.#send("POST", "/v1/objects", { class: "Small", properties: { number }, vector: [1, 2] });
  }

  #send(method: string, path: string, body?: unknown): Promise<number> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = {
      ...this.headers,
      ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request({ agent: this.#agent, port: this.port, method, path, headers }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode ?? 0));
      });
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }

  end(): void {
    this.#agent.destroy();
  }
}

/** Some thousand objects with vectors. */
async function fill({ http }: ServerProcess, headers: Headers): Promise<void> {
  for (const name of ["Item", "Small", "Batched"]) {
    expect((await http.post("/v1/schema", { class: name }, { ...headers })).status).toBe(200);
  }
  for (let batch = 0; batch < 10; batch++) {
    const objects = Array.from({ length: 1_000 }, (_, i) => ({
      class: "Item",
      ...(batch + i === 0 ? { id: ID } : {}),
      properties: { name: `item ${i} ${"y".repeat(100)}`, number: i },
      vector: Array.from({ length: 100 }, (__, at) => Math.sin(batch * 1_000 + i + at)),
    }));
    expect((await http.post("/v1/batch/objects", { objects }, { ...headers })).status).toBe(200);
  }
}

/** What was measured without the attack: alone, and beside the same attack on another server where that was made. */
interface Without {
  readonly idle: readonly number[];
  readonly other: readonly number[] | undefined;
}

function judge(what: string, { idle, other }: Without, beside: readonly number[]): void {
  const of = (times: readonly number[]): string =>
    `p50 ${percentile(times, 0.5).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
  const elsewhere = other === undefined ? "" : `; beside one on another server ${of(other)}`;
  console.log(`${what}: idle ${of(idle)}; beside it ${of(beside)}${elsewhere}`);
  const p99 = percentile(beside, 0.99);
  expect(p99).toBeLessThan(P99_MS_MAX);
  if (other === undefined) return;
  expect(p99).toBeLessThan(P99_RATIO_MAX * Math.max(percentile(idle, 0.99), percentile(other, 0.99)));
}

/** Ends an attack. */
type End = () => void;

function stalledBombs(port: number, attackers: readonly Headers[]): Promise<Socket[]> {
  const half = BOMB.subarray(0, -10);
  return openAll(port, 4, (at) => {
    const head = POST(attackers[at % attackers.length] ?? {}, BOMB.length, "Content-Encoding: gzip\r\n");
    return Buffer.concat([Buffer.from(head), half]);
  });
}

function slowBodies(port: number, attackers: readonly Headers[]): Promise<Socket[]> {
  return openAll(port, 2_000, (at) => `${POST(attackers[at % attackers.length] ?? {}, 9)}{`);
}

/** Until they are killed. */
async function heavyClients(url: string, attackers: readonly Headers[]): Promise<ChildProcess> {
  const tokens = attackers.flatMap(({ Authorization = "" }) => Authorization.replace("Bearer ", "") || []);
  const heavy = spawn(process.execPath, [HEAVY_CLIENTS, url, ...tokens], { stdio: ["ignore", "pipe", "inherit"] });
  await once(heavy.stdout, "data");
  return heavy;
}

function destroyAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

async function openAll(port: number, count: number, bytes: (at: number) => string | Buffer): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 200) {
    const some = await Promise.all(Array.from({ length: Math.min(200, count - at) }, () => openSocket(port)));
    for (const [i, socket] of some.entries()) {
      socket.resume();
      socket.write(bytes(at + i));
    }
    sockets.push(...some);
  }
  return sockets;
}

/** What several do, each with headers of his own, and the victim with other ones. */
function floods(of: () => { readonly server: ServerProcess; readonly victim: Victim; readonly attackers: Headers[] }) {
  let idle: readonly number[] = [];
  let other: ServerProcess | undefined;

  beforeAll(async () => {
    if (SECONDS < LONG_SECONDS) return;
    other = await ServerProcess.start({ env: LIMITS });
    await fill(other, {});
  });
  afterAll(() => other?.[Symbol.asyncDispose]());

  it("is measured alone", async () => {
    idle = await of().victim.askFor(SECONDS);
  });

  async function without(attack: (other: ServerProcess) => Promise<End>): Promise<Without> {
    if (other === undefined) return { idle, other };
    const end = await attack(other);
    try {
      return { idle, other: await of().victim.askFor(SECONDS) };
    } finally {
      end();
    }
  }

  it("S2: half-sent gzip bodies that inflate to 256 MiB hold what was sent of them, and are cut", async () => {
    const { server, victim, attackers } = of();
    expect(BOMB.length).toBeLessThan(300_000);
    const measured = await without(async ({ port }) => {
      const sockets = await stalledBombs(port, [{}]);
      return () => destroyAll(sockets);
    });
    const before = residentBytes(server.pid);
    const sockets = await stalledBombs(server.port, attackers);
    let text = "";
    for (const socket of sockets) socket.on("data", (chunk) => (text += String(chunk)));
    const beside = await victim.askFor(SECONDS);
    expect(residentBytes(server.pid) - before).toBeLessThan(150 * MIB);
    judge("4 gzip bodies that stall", measured, beside);
    await expect.poll(() => [...text.matchAll(/^HTTP\/1\.1 408 /gm)].length).toBe(4);
    destroyAll(sockets);
    // Sent whole they inflate to a hundred times their size and some.
    const [headers = {}] = attackers;
    const head = POST(headers, BOMB.length, "Content-Encoding: gzip\r\nConnection: close\r\n");
    const whole = await saidTo(server.port, Buffer.concat([Buffer.from(head), BOMB]), 30_000);
    expect(whole.statuses, whole.text).toEqual([413]);
    expect(whole.text).toContain("inflate");
  });

  it("S2: 2,000 bodies of which one byte has come are not in flight, and are cut", async () => {
    const { server, victim, attackers } = of();
    const measured = await without(async ({ port }) => {
      const sockets = await slowBodies(port, [{}]);
      return () => destroyAll(sockets);
    });
    const sockets = await slowBodies(server.port, attackers);
    let statuses = 0;
    let others = 0;
    for (const socket of sockets) {
      socket.on("data", (chunk) => {
        if (/^HTTP\/1\.1 408 /.test(String(chunk))) statuses++;
        else others++;
      });
    }
    const beside = await victim.askFor(SECONDS);
    judge("2,000 bodies of one byte", measured, beside);
    await expect.poll(() => [statuses, others]).toEqual([2_000, 0]);
    destroyAll(sockets);
  });

  it("S10: clients that ask for as much as they may", async () => {
    const { server, victim, attackers } = of();
    const measured = await without(async ({ url }) => {
      const heavy = await heavyClients(url, [{}]);
      return () => heavy.kill("SIGKILL");
    });
    const heavy = await heavyClients(server.url, attackers);
    try {
      const beside = await victim.askFor(2 * SECONDS);
      judge("four heavy clients", measured, beside);
      expect(heavy.exitCode).toBeNull();
    } finally {
      heavy.kill("SIGKILL");
    }
    await expect.poll(() => victim.get()).toBe(200);
  });

  it("S11: a flood of connections without a request", async () => {
    const { server, victim } = of();
    const measured = await without(async ({ port }) => {
      const sockets: Socket[] = [];
      for (let round = 0; round < 8; round++) sockets.push(...(await openAll(port, 400, () => "")));
      return () => destroyAll(sockets);
    });
    let closed = 0;
    const flood: Socket[] = [];
    const newcomers: number[] = [];
    for (let round = 0; round < 8; round++) {
      const some = await openAll(server.port, 400, () => "");
      for (const socket of some) socket.on("close", () => closed++);
      flood.push(...some);
      // Whoever comes newly gets in, too.
      newcomers.push(...(await saidTo(server.port, "GET /v1/.well-known/live HTTP/1.0\r\n\r\n")).statuses);
    }
    expect(newcomers).toEqual(new Array(8).fill(200));
    const beside = await victim.askFor(SECONDS);
    judge("3,200 idle connections where 2,500 may be", measured, beside);
    expect(closed).toBeGreaterThan(800);
    destroyAll(flood);
  });
}

/** What stalls is held while the victim asks, and cut soon afterwards. */
const LIMITS = {
  HTTP_CONNECTIONS_MAX: "2500",
  HTTP_BODY_STALL_SECONDS: String(SECONDS + 3),
  LOG_LEVEL: "error",
};

describe("everybody is anonymous, at one address", () => {
  let server: ServerProcess;
  let victim: Victim;
  beforeAll(async () => {
    server = await ServerProcess.start({ env: LIMITS });
    await fill(server, {});
    victim = new Victim(server.port);
  });
  afterAll(async () => {
    victim.end();
    await server[Symbol.asyncDispose]();
  });

  floods(() => ({ server, victim, attackers: [{}] }));
});

describe("users with names", () => {
  const names = ["ann", "ben", "cem", "dan"];
  let guarded: GuardedServer;
  let victim: Victim;
  let attackers: Headers[];
  beforeAll(async () => {
    guarded = await GuardedServer.start(makeIssuerKey("k1"), LIMITS);
    const { issuer, server } = guarded;
    issuer.accessSeconds = 3_600;
    for (const name of names) issuer.accounts.set(name, { password: name, email: `${name}@example.com`, groups: [] });
    const alice = await guarded.headersOf("alice");
    await fill(server, alice);
    victim = new Victim(server.port, alice);
    attackers = [];
    for (const name of names) {
      attackers.push({ Authorization: `Bearer ${(await issuer.login(name, name)).access_token}` });
    }
  });
  afterAll(async () => {
    victim.end();
    await guarded[Symbol.asyncDispose]();
  });

  floods(() => ({ server: guarded.server, victim, attackers }));
});

describe("whoever may not write", () => {
  // covers: decisions/both/forbidden
  it("S2: is refused before a byte of the body has come, and takes nothing of what others need", async () => {
    const env = {
      AUTHORIZATION_ADMINLIST_ENABLED: "true",
      AUTHORIZATION_ADMINLIST_USERS: "alice",
      AUTHORIZATION_ADMINLIST_READONLY_USERS: "anonymous",
    };
    await using server = await ServerProcess.start({ env });
    const sockets = await openAll(server.port, 50, () => `${POST({}, 200 * MIB)}${" ".repeat(1_000)}`);
    const statuses: string[] = [];
    for (const socket of sockets) {
      socket.on("data", (chunk) => statuses.push(...(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.slice(1) ?? [])));
    }
    await expect.poll(() => statuses.length).toBe(50);
    expect(new Set(statuses)).toEqual(new Set(["403"]));
    for (const socket of sockets) socket.destroy();
  });
});
