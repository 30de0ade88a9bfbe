import { type ChildProcess, spawn } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { request as plainRequest } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate, TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { cleanEnvironment, freePort, runServer, SERVER_MAIN } from "../server-process.js";
import { openSocket } from "./raw-connection.js";

const CONNECTIONS_MAX = 32;
const MIB = 1024 * 1024;
const TEST_TIMEOUTS = { timeout: 120_000, interval: 50 };

let folder: string;
let port: number;
let child: ChildProcess;
let output = "";
let ca: Buffer;

const file = (...names: string[]): string => join(folder, ...names);

async function makeCertificate(out: string): Promise<void> {
  const args = ["cluster", "certs", "--out", file(out), "--name", "server:gateway:127.0.0.1,localhost"];
  expect(await runServer({}, args)).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-tls-port-"));
  await Promise.all([makeCertificate("first"), makeCertificate("second")]);
  ca = Buffer.concat([
    await readFile(file("first", "server", "ca.pem")),
    await readFile(file("second", "server", "ca.pem")),
  ]);
  await copyFile(file("first", "server", "cert.pem"), file("cert.pem"));
  await copyFile(file("first", "server", "key.pem"), file("key.pem"));
  port = await freePort();
  child = spawn(process.execPath, [SERVER_MAIN, "serve"], {
    env: {
      ...cleanEnvironment(),
      PORT: String(port),
      HTTP_CONNECTIONS_MAX: String(CONNECTIONS_MAX),
      HTTP_ANSWER_STALL_SECONDS: "2",
      PERSISTENCE_DATA_PATH: file("data"),
      TLS_CERT_FILE: file("cert.pem"),
      TLS_KEY_FILE: file("key.pem"),
    },
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.stdout?.resume();
  await vi.waitFor(() => expect(output).toContain('"message":"serving"'), TEST_TIMEOUTS);
});
afterAll(async () => {
  child?.kill("SIGKILL");
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
  readonly certificate: PeerCertificate;
}

function ask(path: string, headers: Record<string, string> = {}, method = "GET", body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers, ca, agent: false }, (response) => {
      const { socket } = response;
      if (!(socket instanceof TLSSocket)) return reject(new Error("no TLS"));
      const certificate = socket.getPeerCertificate();
      let text = "";
      response.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: text, certificate }));
    });
    sent.on("error", reject).end(body);
  });
}

describe("S11: a port with a certificate of its own", () => {
  it("serves https, says so in its address, and keeps its data to itself", async () => {
    expect(output).toContain(`"url":"https://127.0.0.1:${port}"`);
    const json = { "Content-Type": "application/json" };
    expect((await ask("/v1/schema", json, "POST", '{"class":"Car"}')).status).toBe(200);
    expect((await ask("/v1/schema")).body).toContain('"Car"');
    expect((await ask("/console")).status).toBe(200);
    expect((await stat(file("data"))).mode & 0o777).toBe(0o700);
  });

  it("S1: knows the scheme of its own pages", async () => {
    expect((await ask("/v1/meta", { Origin: `https://127.0.0.1:${port}` })).status).toBe(200);
    expect((await ask("/v1/meta", { Origin: `http://127.0.0.1:${port}` })).status).toBe(403);
  });

  it("speaks neither plain HTTP nor old TLS", async () => {
    await expect(
      new Promise((resolve, reject) => {
        plainRequest({ host: "127.0.0.1", port, path: "/v1/meta" }, resolve).on("error", reject).end();
      }),
    ).rejects.toThrow();
    const version = (maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3") =>
      new Promise<string | null>((resolve, reject) => {
        const options = {
          host: "127.0.0.1",
          port,
          ca,
          minVersion: "TLSv1" as const,
          maxVersion,
          ciphers: "ALL:@SECLEVEL=0",
        };
        const socket = connect(options, () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
        socket.on("error", reject);
      });
    expect(await version("TLSv1.3")).toBe("TLSv1.3");
    expect(await version("TLSv1.2")).toBe("TLSv1.2");
    await expect(version("TLSv1.1")).rejects.toThrow();
    expect((await ask("/v1/meta")).status).toBe(200);
  });

  it("counts each connection once: none is closed while there are fewer than seven eighths of the most", async () => {
    const agent = new Agent({ keepAlive: true, ca });
    const kept = CONNECTIONS_MAX * (3 / 4);
    const asked = Array.from(
      { length: kept },
      () =>
        new Promise<TLSSocket>((resolve, reject) => {
          const sent = request({ host: "127.0.0.1", port, path: "/v1/meta", agent }, (response) => {
            const socket = response.socket as TLSSocket;
            response.resume().on("end", () => resolve(socket));
          });
          sent.on("error", reject).end();
        }),
    );
    const sockets = await Promise.all(asked);
    expect((await ask("/v1/meta")).status).toBe(200);
    expect(sockets.filter((socket) => !socket.destroyed)).toHaveLength(kept);
    expect(output).not.toContain("idle connections were closed");
    agent.destroy();
  });

  it("takes a new certificate without a restart, and keeps the former while files do not fit together", async () => {
    const before = (await ask("/v1/meta")).certificate.fingerprint256;
    await copyFile(file("second", "server", "key.pem"), file("key.pem"));
    await vi.waitFor(() => expect(output).toContain("changed certificates cannot be used"), TEST_TIMEOUTS);
    expect((await ask("/v1/meta")).certificate.fingerprint256).toBe(before);
    await copyFile(file("second", "server", "cert.pem"), file("cert.pem"));
    await vi.waitFor(
      async () => expect((await ask("/v1/meta")).certificate.fingerprint256).not.toBe(before),
      TEST_TIMEOUTS,
    );
  });

  it("S2: cuts a client that takes nothing of its answer, and none that takes it slowly", async () => {
    const objects = Array.from({ length: 24 }, () => ({
      class: "Car",
      vector: [1],
      properties: { text: "x".repeat(MIB) },
    }));
    const json = { "Content-Type": "application/json" };
    expect((await ask("/v1/batch/objects", json, "POST", JSON.stringify({ objects }))).status).toBe(200);
    const asking = () => {
      const socket = connect({ host: "127.0.0.1", port, ca }).on("error", () => {});
      socket.pause().write("GET /v1/objects?limit=24 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      return socket;
    };
    const [silent, slow] = [asking(), asking()];
    // Longer than it may take nothing, a megabyte at a time.
    let bytes = 0;
    slow.on("data", (part) => {
      const before = Math.floor(bytes / MIB);
      bytes += part.length;
      if (Math.floor(bytes / MIB) !== before) slow.pause();
    });
    const taking = setInterval(() => slow.resume(), 200);
    try {
      await vi.waitFor(() => expect(bytes).toBeGreaterThan(24 * MIB), TEST_TIMEOUTS);
      silent.resume();
      await vi.waitFor(() => expect(silent.destroyed).toBe(true), TEST_TIMEOUTS);
      expect(silent.bytesRead).toBeLessThan(24 * MIB);
    } finally {
      clearInterval(taking);
      for (const socket of [silent, slow]) socket.destroy();
    }
  });

  it("stops in order, also with a client that never begins to speak", async () => {
    const socket = await openSocket(port);
    const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    socket.destroy();
  });
});

describe("S11: a certificate that is none", () => {
  it.each([
    ["TLS_CERT_FILE alone", () => ({ TLS_CERT_FILE: file("cert.pem") }), "TLS_KEY_FILE must be set"],
    [
      "a key of another certificate",
      () => ({ TLS_CERT_FILE: file("first", "server", "cert.pem"), TLS_KEY_FILE: file("second", "server", "key.pem") }),
      "does not belong to the certificate",
    ],
    [
      "a file that is not there",
      () => ({ TLS_CERT_FILE: file("none.pem"), TLS_KEY_FILE: file("key.pem") }),
      "none.pem' cannot be read: ENOENT",
    ],
  ])("%s stops the start", async (_, env, message) => {
    const run = await runServer({ ...env(), PORT: "0", PERSISTENCE_DATA_PATH: file("other") });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(message);
  });
});
