import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EtcdCertificates } from "@shoal/coordinator/etcd";
import { ResourceScope, silentLogger } from "@shoal/service-runtime";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readCertificateRequest } from "./cluster/certificate-request.js";
import { writeCertificates } from "./cluster/write-certificates.js";
import { followEtcdCertificates } from "./tls-files.js";

let folder: string;
let scope: ResourceScope;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-etcd-files-"));
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
  etcdCaFile: join(folder, name, "ca.pem"),
  etcdCertFile: join(folder, name, "cert.pem"),
  etcdKeyFile: join(folder, name, "key.pem"),
});

function follow(files: Partial<ReturnType<typeof filesOf>>) {
  const none = { etcdCaFile: undefined, etcdCertFile: undefined, etcdKeyFile: undefined };
  return followEtcdCertificates({ ...none, ...files }, silentLogger, scope, 10);
}

it("takes what is given, and what changed as soon as it fits together", async () => {
  expect((await follow({})).current()).toEqual({ ca: undefined });
  const { etcdCaFile } = filesOf("a");
  expect((await follow({ etcdCaFile })).current()).toEqual({ ca: await readFile(etcdCaFile) });
  const [files, other] = [filesOf("a"), filesOf("b")];
  const followed = await follow(files);
  const reported: EtcdCertificates[] = [];
  followed.onChange((certificates) => reported.push(certificates));
  await copyFile(other.etcdKeyFile, files.etcdKeyFile);
  await copyFile(other.etcdCertFile, files.etcdCertFile);
  await vi.waitFor(() => expect(reported).toHaveLength(1));
  expect(reported[0]?.cert).toEqual(await readFile(other.etcdCertFile));
});

it.each([
  [{ etcdCaFile: "/nowhere/ca.pem" }, "ETCD_CA_FILE '/nowhere/ca.pem' cannot be read: ENOENT"],
  [{ etcdCertFile: "cert.pem" }, "ETCD_CERT_FILE and ETCD_KEY_FILE belong together"],
  [{ etcdKeyFile: "key.pem" }, "ETCD_CERT_FILE and ETCD_KEY_FILE belong together"],
])("refuses a start with %j", async (files, message) => {
  await expect(follow(files)).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(message) });
});

it("refuses the key of another certificate", async () => {
  const { etcdKeyFile } = filesOf("b");
  await expect(follow({ ...filesOf("a"), etcdKeyFile })).rejects.toThrow("does not belong to the certificate");
});
