import type { FaultRow } from "../../faults/fault-row.js";
import { F14_CLUSTER } from "./f14-class-gone.js";
import { R1_CLUSTER } from "./r1-kill-storage-node.js";
import { R3_CLUSTER } from "./r3-sync-before-acknowledgement.js";
import { R4_CLUSTER } from "./r4-storage-node-down.js";
import { R5_CLUSTER } from "./r5-partition.js";
import { R7_CLUSTER } from "./r7-etcd.js";
import { R8_CLUSTER } from "./r8-rolling-restart.js";
import { R9_CLUSTER } from "./r9-schema-changes.js";
import { R18_CLUSTER, R18_TWO_CLUSTER } from "./r18-wiped-disk.js";
import { R19_CLUSTER } from "./r19-kill-primary.js";
import { R19_MANY_CLUSTER } from "./r19-many.js";
import { R20_CLUSTER } from "./r20-partition.js";
import { R21_CLUSTER } from "./r21-stopped-primary.js";
import { R22_CLUSTER } from "./r22-restless-secondary.js";
import { R25_CLUSTER } from "./r25-last-copy.js";
import { R28_CLUSTER } from "./r28-class-made-anew.js";
import { S11_CLUSTER } from "./s11-strangers.js";
import { S12_CLUSTER } from "./s12-drain.js";

/** The rows that run on a cluster of their own, in the order of the tables. */
export const CLUSTER_ROWS: readonly FaultRow[] = [
  ...R1_CLUSTER,
  ...R3_CLUSTER,
  ...R4_CLUSTER,
  ...R5_CLUSTER,
  ...R7_CLUSTER,
  ...R8_CLUSTER,
  ...R9_CLUSTER,
  R18_CLUSTER,
  R18_TWO_CLUSTER,
  R19_CLUSTER,
  R19_MANY_CLUSTER,
  R20_CLUSTER,
  R21_CLUSTER,
  R22_CLUSTER,
  R25_CLUSTER,
  ...R28_CLUSTER,
  ...F14_CLUSTER,
  S11_CLUSTER,
  S12_CLUSTER,
];
