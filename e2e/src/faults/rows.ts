import { CLUSTER_ROWS } from "../cluster/rows/cluster-rows.js";
import type { FaultRow } from "./fault-row.js";
import { R1 } from "./r1-kill-during-import.js";
import { R3 } from "./r3-sync-before-acknowledgement.js";
import { R10 } from "./r10-disk-full.js";
import { R11 } from "./r11-failing-sync.js";
import { R13 } from "./r13-bit-flips.js";
import { R14 } from "./r14-damaged-graph.js";
import { R15 } from "./r15-recall.js";
import { R17 } from "./r17-data-format.js";
import { R29 } from "./r29-memory-budget.js";

/** Every row that exists, in the order of the table; those on one process first. */
export const FAULT_ROWS: readonly FaultRow[] = [R1, R3, R10, R11, R13, R14, R15, R17, R29, ...CLUSTER_ROWS];
