import { CLUSTER_ROWS } from "./rows/cluster-rows.js";
import { describeRows } from "./rows-suite.js";

describeRows(
  "faults on a cluster with copies, short form",
  CLUSTER_ROWS.filter(({ copies = 1 }) => copies > 1),
);
