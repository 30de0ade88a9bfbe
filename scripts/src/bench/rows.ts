import { ShoalError } from "@shoal/model";
import type { Row } from "./row.js";
import { clusterRows } from "./rows/cluster-rows.js";
import { h1, h1OneConnection } from "./rows/h1.js";
import { h1Growth } from "./rows/h1-growth.js";
import { h2 } from "./rows/h2.js";
import { h3 } from "./rows/h3.js";
import { h3Sweep } from "./rows/h3-sweep.js";
import { h4 } from "./rows/h4.js";
import { h5 } from "./rows/h5.js";
import { h6 } from "./rows/h6.js";
import { h7Images, h7Words } from "./rows/h7.js";
import { h7Text } from "./rows/h7-text.js";
import { h8 } from "./rows/h8.js";
import { h8Classes } from "./rows/h8-classes.js";
import { h9 } from "./rows/h9.js";
import { h9Live } from "./rows/h9-live.js";
import { h10 } from "./rows/h10.js";
import { h11 } from "./rows/h11.js";
import { h12 } from "./rows/h12.js";
import { references } from "./rows/refs.js";

/**
 * All rows, in the order in which they run: those over words share one server, then those over images, then those with
 * a server of their own. Within one server the rows that change the data stand last.
 */
export const ROWS: readonly Row[] = [
  h7Words,
  h1,
  h11,
  h1OneConnection,
  ...h3,
  ...h4,
  ...h5,
  ...h6,
  h12,
  ...h8,
  h7Images,
  h2,
  ...h3Sweep,
  references,
  h8Classes,
  h7Text,
  h9,
  h9Live,
  h10,
  ...h1Growth,
  ...clusterRows,
];

/**
 * The rows that the names select, by id or group, whatever their case; without a name all default ones. Against a
 * server that runs already, rows that need their own are left out. Errors: `invalid` for a name that selects nothing.
 */
export function selectRows(names: readonly string[], ownServer: boolean): readonly Row[] {
  const named = names.map((name) => name.toLowerCase());
  const matches = (row: Row, name: string) => row.id.toLowerCase() === name || row.group.toLowerCase() === name;
  const unknown = named.find((name) => !ROWS.some((row) => matches(row, name)));
  if (unknown !== undefined) {
    const known = [...new Set(ROWS.map((row) => row.group))].join(", ");
    throw new ShoalError("invalid", `there is no row '${unknown}'; there are ${known}, and single ones like H8-get`);
  }
  const wanted = ROWS.filter((row) => (named.length === 0 ? row.byDefault : named.some((name) => matches(row, name))));
  return wanted.filter((row) => ownServer || !row.needsOwnServer);
}
