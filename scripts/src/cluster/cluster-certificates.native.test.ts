import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { certificateFiles, makeCertificates } from "./cluster-certificates.js";
import { SHOAL } from "./cluster-plan.js";

const DAY_MS = 86_400_000;
const PROCESSES = [
  { name: "storage-node-1", role: "storage-node" },
  { name: "etcd-1", role: "etcd" },
];

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "shoal-certificates-")), "certificates");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const make = (days = 0): boolean =>
  makeCertificates(folder, PROCESSES, [process.execPath, SHOAL], Date.now() + days * DAY_MS);
const read = (path: string): string => readFileSync(path, "utf8");

it("S6: certificates are made once, kept from other users, and renewed when they run out", () => {
  expect(make()).toBe(true);
  expect(make()).toBe(false);
  const [node] = PROCESSES.map(({ name }) => certificateFiles(folder, name));
  if (node === undefined) throw new Error("there is a storage node");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const key of [node.key, join(folder, "ca-key.pem")]) expect(statSync(key).mode & 0o777).toBe(0o600);
  const before = read(node.certificate);
  expect(make(59)).toBe(false);
  expect(make(61)).toBe(true);
  expect(read(node.certificate)).not.toBe(before);
  rmSync(certificateFiles(folder, "etcd-1").certificate);
  expect(make()).toBe(true);
});

it("S6: an authority that runs out is replaced with all that it signed", () => {
  make();
  const authority = read(join(folder, "ca.pem"));
  expect(make(3_640)).toBe(true);
  expect(read(join(folder, "ca.pem"))).not.toBe(authority);
});
