import "reflect-metadata";
import { KeyObject, webcrypto, X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import { BasicConstraintsExtension, X509CertificateGenerator } from "@peculiar/x509";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCertificateRequest } from "./certificate-request.js";
import { writeCertificates } from "./write-certificates.js";

const DAY_MS = 86_400_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-certs-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function write(names: readonly string[], { days = 30, nowMs = Date.now() } = {}): Promise<readonly string[]> {
  return writeCertificates(folder, names.map(readCertificateRequest), { days, nowMs });
}

async function filesOf(name: string) {
  const [ca, cert, key] = await Promise.all(
    ["ca", "cert", "key"].map((one) => readFile(join(folder, name, `${one}.pem`))),
  );
  return { ca, cert, key };
}

/** What both sides say of the other's certificate after a handshake, or the error of either. */
async function handshake(server: object, client: object): Promise<string> {
  return new Promise((resolve) => {
    const listener = createServer({ ...server, requestCert: true, rejectUnauthorized: true }, (socket) => {
      const { subjectaltname } = (socket as TLSSocket).getPeerCertificate();
      socket.end(String(subjectaltname));
    });
    listener.on("tlsClientError", ({ message }) => finish(message));
    const finish = (said: string): void => {
      listener.close();
      resolve(said);
    };
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address() as AddressInfo;
      const socket = connect({ ...client, socket: connectPlain(port, "127.0.0.1") });
      socket.on("data", (text) => finish(String(text)));
      socket.on("error", ({ message }) => finish(message));
    });
  });
}

describe("certificates", () => {
  it("let processes of the same authority prove their names to each other, and no others", async () => {
    await write(["n1:storage-node:db1.example.com,127.0.0.1,::1", "gw:gateway", "c:coordinator:10.0.0.1"]);
    const node = await filesOf("n1");
    const gateway = await filesOf("gw");
    expect(await handshake(node, { ...gateway, servername: "n1" })).toBe("DNS:gateway");
    expect(await handshake(await filesOf("c"), { ...node, servername: "coordinator" })).toBe(
      "DNS:n1, DNS:db1.example.com, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    );
    expect(await handshake(node, { ...gateway, servername: "n2" })).toMatch(/n2/);
    expect(await handshake(node, { ca: gateway.ca, servername: "n1" })).not.toContain("DNS:");
    const ours = folder;
    folder = join(ours, "strangers");
    await write(["gw:gateway"]);
    const stranger = await filesOf("gw");
    folder = ours;
    expect(await handshake(node, { ...stranger, ca: node.ca, servername: "n1" })).not.toContain("DNS:");
  });

  it("keep keys from others", async () => {
    await write(["n1:storage-node"]);
    expect((await stat(join(folder, "n1"))).mode & 0o777).toBe(0o700);
    for (const path of ["ca-key.pem", "n1/key.pem"]) {
      expect((await stat(join(folder, path))).mode & 0o777, path).toBe(0o600);
    }
  });

  it("S7: leave the authority's key where nobody else looks, and belong to whom they are for", async () => {
    const authority = join(folder, "authority");
    const out = join(folder, "out");
    const owner = { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
    const requests = [readCertificateRequest("n1:storage-node")];
    for (let time = 0; time < 2; time++) {
      await writeCertificates(out, requests, { days: 30, nowMs: Date.now(), authority, owner });
    }
    expect((await readdir(authority)).sort()).toEqual(["ca-key.pem", "ca.pem"]);
    expect(await readdir(out)).toEqual(["n1"]);
    expect((await readdir(join(out, "n1"))).sort()).toEqual(["ca.pem", "cert.pem", "key.pem"]);
    // Only root may give files away.
    if (owner.user !== 0) return;
    const given = { days: 30, nowMs: Date.now(), authority, owner: { user: 65_532, group: 65_532 } };
    await writeCertificates(out, [...requests, readCertificateRequest("n2:storage-node")], given);
    for (const path of ["n1/key.pem", "n2", "n2/key.pem", "n2/cert.pem"]) {
      expect(await stat(join(out, path)), path).toMatchObject({ uid: 65_532, gid: 65_532 });
    }
    expect(await stat(join(out, "n1"))).toMatchObject({ uid: 0 });
  });

  it("are renewed by the authority that is there, with a new key", async () => {
    const nowMs = Date.now();
    await write(["n1:storage-node"], { days: 1 });
    const before = await filesOf("n1");
    await write(["n1:storage-node", "n2:storage-node"], { days: 400, nowMs });
    const after = await filesOf("n1");
    expect(after.ca).toEqual(before.ca);
    expect(after.key).not.toEqual(before.key);
    const lifeMs = Date.parse(new X509Certificate(after.cert ?? "").validTo) - nowMs;
    expect(Math.round(lifeMs / DAY_MS)).toBe(400);
    expect(await handshake(before, { ...after, servername: "n1" })).toBe("DNS:n1");
  });

  it("S7: are signed by an authority of RSA, too, as Helm makes one", async () => {
    const algorithm = {
      ...{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
      ...{ modulusLength: 2_048, publicExponent: Uint8Array.of(1, 0, 1) },
    };
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await X509CertificateGenerator.createSelfSigned(
      { name: "CN=helm", keys, signingAlgorithm: algorithm, extensions: [new BasicConstraintsExtension(true)] },
      webcrypto,
    );
    const authority = join(folder, "rsa");
    await mkdir(authority);
    await writeFile(join(authority, "ca.pem"), `${certificate.toString("pem")}\n`);
    const key = KeyObject.from(keys.privateKey).export({ type: "pkcs1", format: "pem" });
    await writeFile(join(authority, "ca-key.pem"), key);
    const requests = ["n1:storage-node", "gw:gateway"].map(readCertificateRequest);
    await writeCertificates(folder, requests, { days: 9, nowMs: Date.now(), authority });
    expect(await handshake(await filesOf("n1"), { ...(await filesOf("gw")), servername: "n1" })).toBe("DNS:gateway");
  });

  it("never outlive their authority, and come from none that has expired", async () => {
    const nowMs = Date.now();
    await write(["n1:storage-node"], { nowMs: nowMs - 3_600 * DAY_MS });
    await write(["n1:storage-node"], { days: 400, nowMs });
    const { ca, cert } = await filesOf("n1");
    expect(new X509Certificate(cert ?? "").validTo).toBe(new X509Certificate(ca ?? "").validTo);
    await expect(write(["n1:storage-node"], { nowMs: nowMs + 60 * DAY_MS })).rejects.toThrow(/has expired on 20/);
  });

  it("do not begin again when only the authority's key is missing", async () => {
    await write(["n1:storage-node"]);
    await rm(join(folder, "ca-key.pem"));
    await expect(write(["n1:storage-node"])).rejects.toThrow(/ca-key.pem' is missing/);
  });
});

describe("readCertificateRequest", () => {
  it.each([
    ["n1", "--name must be name:role:host"],
    ["n1:node:h", "--name must be name:role:host"],
    ["../n1:storage-node", "--name must be name:role:host"],
    ["n1:storage-node:h,a b", "'a b' is no host name"],
    ["gateway:storage-node", "must not be called 'gateway'"],
    ["n1:storage-node:coordinator", "must not be called 'coordinator'"],
  ])("refuses %s", (text, message) => {
    expect(() => readCertificateRequest(text)).toThrow(message);
  });

  it("reads names, IPv4 and IPv6", () => {
    expect(readCertificateRequest("n1:storage-node:a.b, ::1,10.0.0.1")).toEqual({
      name: "n1",
      role: "storage-node",
      hosts: ["a.b", "::1", "10.0.0.1"],
    });
  });
});
