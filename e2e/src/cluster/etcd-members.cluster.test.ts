import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lacks } from "../needs.js";
import { LoopbackNetwork } from "./cluster-network.js";
import { EtcdMembers } from "./etcd-members.js";

let folder: string;
let etcd: EtcdMembers;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-etcd-"));
  etcd = await EtcdMembers.start(3, new LoopbackNetwork(), folder);
  await etcd.ready();
});
afterEach(async () => {
  for (const one of etcd.processes) await one[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

it.skipIf(lacks("etcd"))("three members elect a leader, and another one when it is killed (needs etcd)", async () => {
  const first = await etcd.leader();
  await first.kill();
  const second = await etcd.leader();
  expect(second.name).not.toBe(first.name);
  await first.launch();
  expect((await etcd.leader()).running).toBe(true);
});
