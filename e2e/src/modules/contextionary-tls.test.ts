import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ContextionaryProcess } from "../contextionary-process.js";
import { runServer, ServerProcess } from "../server-process.js";
import { CONTEXTIONARY_ROUTES } from "./teach.js";

const NAMES = ["words:contextionary", "gw:gateway", "n1:storage-node"];
const folder = mkdtempSync(join(tmpdir(), "shoal-words-tls-"));
let contextionary: ContextionaryProcess;

function tlsOf(name: string): Readonly<Record<string, string>> {
  const file = (one: string): string => join(folder, name, `${one}.pem`);
  return {
    INTERNAL_TLS_CA_FILE: file("ca"),
    INTERNAL_TLS_CERT_FILE: file("cert"),
    INTERNAL_TLS_KEY_FILE: file("key"),
  };
}

beforeAll(async () => {
  const made = await runServer({}, ["cluster", "certs", "--out", folder, "--name", ...NAMES]);
  expect(made.code, made.stderr).toBe(0);
  contextionary = await ContextionaryProcess.start(tlsOf("words"));
});
afterAll(async () => {
  await contextionary?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const asked = (name: string): Readonly<Record<string, string>> => ({
  ...{ ENABLE_MODULES: "text2vec-contextionary", CONTEXTIONARY_URL: contextionary.address, CONTEXTIONARY_TLS: "true" },
  ...tlsOf(name),
});

it("S6: a contextionary answers whoever proves to be a gateway, and says who it is", async () => {
  await using server = await ServerProcess.start({ env: asked("gw") });
  const answer = await server.http.get(`${CONTEXTIONARY_ROUTES}/concepts/cat`);
  expect(answer.status, answer.text).toBe(200);
  expect(contextionary.logTail()).not.toContain("without TLS");
});

/** What comes back to whoever says what a gRPC client says first. */
function said(socket: TLSSocket | ReturnType<typeof connectPlain>): Promise<string> {
  return new Promise((resolve) => {
    socket.on("data", (bytes) => resolve(`data ${bytes.length}`));
    socket.on("error", ({ message }) => resolve(message));
    socket.on("close", () => resolve("closed"));
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0");
  });
}

it("S6: nobody gets in without a certificate of the cluster", async () => {
  const [host = "", port = ""] = contextionary.address.split(":");
  const ca = readFileSync(tlsOf("gw").INTERNAL_TLS_CA_FILE ?? "");
  const secure = connect({ host, port: Number(port), ca, servername: "contextionary", ALPNProtocols: ["h2"] });
  expect(await said(secure)).not.toMatch(/^data/);
  expect(await said(connectPlain({ host, port: Number(port) }))).not.toMatch(/^data/);
});

it("S6: starts that could not be meant are refused", async () => {
  const { INTERNAL_TLS_KEY_FILE: _, ...withoutKey } = asked("gw");
  const { code, stderr } = await runServer({ ...withoutKey, PORT: "0" });
  expect([code, stderr]).toEqual([1, expect.stringContaining("INTERNAL_TLS_KEY_FILE must be set")]);
  const wrong = await runServer({ ...tlsOf("n1"), INTERNAL_PORT: "0" }, ["contextionary"]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("not of 'contextionary'")]);
  const open = await runServer({ INTERNAL_HOST: "0.0.0.0", INTERNAL_PORT: "0" }, ["contextionary"]);
  expect([open.code, open.stderr]).toEqual([1, expect.stringContaining("INTERNAL_TLS=off does without")]);
});
