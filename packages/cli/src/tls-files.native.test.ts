import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TlsMaterial } from "@shoal/rpc";
import { type Logger, ResourceScope, silentLogger } from "@shoal/service-runtime";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readCertificateRequest } from "./cluster/certificate-request.js";
import { writeCertificates } from "./cluster/write-certificates.js";
import { followTlsFiles, refuseForeignCertificate } from "./tls-files.js";

let folder: string;
let scope: ResourceScope;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-tls-"));
  scope = new ResourceScope();
  await writeCertificates(folder, ["a:gateway", "b:gateway"].map(readCertificateRequest), {
    days: 30,
    nowMs: Date.now(),
  });
});
afterEach(async () => {
  await scope[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const filesOf = (name: string) => ({
  caFile: join(folder, name, "ca.pem"),
  certFile: join(folder, name, "cert.pem"),
  keyFile: join(folder, name, "key.pem"),
});

it("takes what changed as soon as it fits together, and tells of it", async () => {
  const files = filesOf("a");
  const other = filesOf("b");
  const source = await followTlsFiles(files, silentLogger, scope, 10);
  const before = source.current();
  const reported: TlsMaterial[] = [];
  source.onChange((material) => reported.push(material));
  await copyFile(other.keyFile, files.keyFile);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(source.current()).toBe(before);
  await copyFile(other.certFile, files.certFile);
  await vi.waitFor(() => expect(reported).toHaveLength(1));
  expect(source.current()).toBe(reported[0]);
  expect(source.current().certificate).toEqual(await readFile(other.certFile));
});

it.each([
  ["caFile", "no pem", "is no certificate in PEM"],
  ["certFile", "", "is no certificate in PEM"],
  ["keyFile", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "is no private key in PEM"],
  ["keyFile", undefined, /INTERNAL_TLS_KEY_FILE '.*key\.pem' cannot be read: ENOENT/],
] as const)("refuses a start with a %s of %j", async (name, text, message) => {
  const files = filesOf("a");
  if (text === undefined) await rm(files[name]);
  else await writeFile(files[name], text);
  await expect(followTlsFiles(files, silentLogger, scope)).rejects.toThrow(message);
});

it("goes on with what it had while a file is a named pipe, and takes the next one that is a file", async () => {
  const files = filesOf("a");
  const other = filesOf("b");
  const warnings: string[] = [];
  const warn: Logger["warn"] = (fields) => warnings.push((fields as { error: string }).error);
  const source = await followTlsFiles(files, { ...silentLogger, warn }, scope, 10);
  const before = source.current();
  await rm(files.certFile);
  execFileSync("mkfifo", [files.certFile]);
  const refusal = `INTERNAL_TLS_CERT_FILE '${files.certFile}' cannot be read: it is a named pipe, not a regular file`;
  await vi.waitFor(() => expect(warnings).toContain(refusal));
  expect(source.current()).toBe(before);
  await rm(files.certFile);
  await copyFile(other.certFile, files.certFile);
  await copyFile(other.keyFile, files.keyFile);
  await vi.waitFor(async () => expect(source.current().certificate).toEqual(await readFile(other.certFile)));
});

it("refuses the key of another certificate", async () => {
  const files = { ...filesOf("a"), keyFile: filesOf("b").keyFile };
  await expect(followTlsFiles(files, silentLogger, scope)).rejects.toThrow("does not belong to the certificate");
});

it("refuses a certificate that was made for somebody else", async () => {
  const requests = ["n1:storage-node:n1.example.com", "c:coordinator"].map(readCertificateRequest);
  await writeCertificates(folder, requests, { days: 30, nowMs: Date.now() });
  const refuse = async (name: string, owner: string) =>
    refuseForeignCertificate(
      name,
      { internalTlsCertFile: filesOf(owner).certFile },
      await followTlsFiles(filesOf(owner), silentLogger, scope),
    );
  await refuse("n1", "n1");
  await refuse("coordinator", "c");
  await expect(refuse("n2", "n1")).rejects.toThrow(/cert\.pem' is the certificate of 'n1'.*, not of 'n2'$/);
  await expect(refuse("coordinator", "a")).rejects.toThrow("is the certificate of 'gateway'");
});
