import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EtcdDoors, HAS_ETCD, type Pass } from "../../etcd-doors.js";
import { certificateFiles, makeCertificates } from "./cluster-certificates.js";
import { planCluster, portsNeeded, SHOAL } from "./cluster-plan.js";
import { freePorts } from "./free-ports.js";

let dataPath: string;
beforeEach(() => {
  dataPath = mkdtempSync(join(tmpdir(), "shoal-doors-"));
});
afterEach(() => rmSync(dataPath, { recursive: true }));

describe.skipIf(!HAS_ETCD)("etcd of npm run cluster (needs etcd)", () => {
  it("S6: lets the coordinator in and no other process of the cluster, and etcd alone as a member", async () => {
    const wish = { dataPath, gateways: 1, storageNodes: 1, environment: process.env, options: [] };
    const random = (below: number) => Math.floor(Math.random() * below);
    const { etcd, certificates } = planCluster(wish, await freePorts(portsNeeded(wish), random));
    if (etcd === undefined || certificates === undefined) throw new Error("etcd is part of the plan, with TLS");
    const outsider = { name: "contextionary-1", role: "contextionary" };
    const all = [...certificates.processes, outsider];
    makeCertificates(certificates.folder, all, [process.execPath, SHOAL], Date.now());
    const flags = etcd.command.filter((word) => word.startsWith("--"));
    const portOf = (flag: string) => Number(/\d+$/.exec(flags.find((one) => one.startsWith(flag)) ?? "")?.[0]);
    const ports = { client: portOf("--listen-client-urls"), peer: portOf("--listen-peer-urls") };
    await using doors = await EtcdDoors.start(flags, ports);
    const passOf = (name: string): Pass => {
      const { ca, certificate, key } = certificateFiles(certificates.folder, name);
      return { ca: readFileSync(ca), cert: readFileSync(certificate), key: readFileSync(key) };
    };
    // It has no leader at once.
    await expect.poll(() => doors.whatMay(passOf("coordinator-1"))).toMatchObject({ read: true, write: true });
    const answers = all.map(async ({ name }) => [name, await doors.whatMay(passOf(name))] as const);
    const none = { read: false, write: false, peer: false };
    expect(Object.fromEntries(await Promise.all(answers))).toEqual({
      "coordinator-1": { ...none, read: true, write: true },
      "etcd-1": { ...none, peer: true },
      "storage-node-1": none,
      "gateway-1": none,
      "contextionary-1": none,
    });
  });
});
