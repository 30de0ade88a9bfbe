import type { FileDamage } from "@shoal/kv";
import type { SalvagedRows, SomeIds } from "@shoal/shard";
import type { SalvagedEntries } from "./repair-entries.js";

/** What was found of a store, and done. */
export interface StoreReport {
  readonly store: string;
  readonly className: string | undefined;
  /** `damaged`: needs a repair. `failed`: could not be looked at or repaired, `error` says why. */
  readonly state: "whole" | "damaged" | "mended" | "failed";
  readonly damage: readonly FileDamage[];
  readonly objects?: SalvagedRows | undefined;
  readonly entries?: SalvagedEntries | undefined;
  readonly keptAs?: string | undefined;
  readonly error?: string;
}

const LINES_MAX = 20;

/** The reports for people. */
export function reportText(reports: readonly StoreReport[]): string {
  return `${reports.flatMap(linesOf).join("\n")}\n`;
}

/** The reports for programs: one JSON value; keys as hexadecimal. */
export function reportJson(dataPath: string, isWritten: boolean, reports: readonly StoreReport[]): string {
  const stores = reports.map(({ damage, ...report }) => ({ ...report, damage: damage.map(damageJson) }));
  return `${JSON.stringify({ dataPath, isWritten, stores }, undefined, 2)}\n`;
}

function damageJson({ file, offset, reason, lower, upper, sequenceMax }: FileDamage) {
  const hex = (key: Uint8Array | undefined) => key && Buffer.from(key).toString("hex");
  return sequenceMax < 0
    ? { file, offset, reason }
    : { file, offset, reason, keysFrom: hex(lower), keysTo: hex(upper) };
}

function linesOf(report: StoreReport): string[] {
  const { store, className, state, damage, objects, entries, keptAs, error } = report;
  const lines = [`${store}${className === undefined ? "" : ` (class ${className})`}: ${error ?? state}`];
  for (const one of damage.slice(0, LINES_MAX)) lines.push(`  ${damageText(one)}`);
  if (damage.length > LINES_MAX) lines.push(`  and ${damage.length - LINES_MAX} more`);
  if (objects !== undefined) lines.push(...objectLines(objects));
  if (entries !== undefined) {
    const { lost, stale, doubtful } = entries;
    const named = ({ count, keys }: SalvagedEntries["lost"]) => ({ count, ids: keys });
    lines.push(
      `  salvaged: ${entries.entries} entries of the schema`,
      ...countLines(named(lost), named(stale), named(doubtful)),
    );
  }
  if (keptAs !== undefined)
    lines.push(`  the damaged store is kept as ${keptAs}: remove it when it is not needed any more`);
  if (state === "damaged") lines.push("  nothing was changed; with --write the store is rebuilt from what is salvaged");
  return lines;
}

function objectLines({ objects, expected, hasExpectedIds, deleted, ...counts }: SalvagedRows): string[] {
  const all = hasExpectedIds ? ", all that the shard's head record counts" : "";
  const differ =
    expected === undefined || hasExpectedIds ? "" : `; its last head record that can be read counts ${expected}`;
  const lines = [`  salvaged: ${objects} objects${all}${differ}`];
  if (deleted > 0) lines.push(`  left out: ${deleted} rows of deleted objects`);
  return [...lines, ...countLines(counts.lost, counts.stale, counts.doubtful)];
}

function countLines(lost: SomeIds, stale: SomeIds, doubtful: SomeIds): string[] {
  return [
    ...idLines("lost", lost),
    ...idLines("salvaged as they were before a change that is lost", stale),
    ...idLines("salvaged, but a later change or their deletion may be lost", doubtful),
  ];
}

function idLines(what: string, { count, ids }: SomeIds): string[] {
  if (count === 0) return [];
  const more = count > LINES_MAX ? ", … (--json has more)" : "";
  return [`  ${what}: ${count} (${ids.slice(0, LINES_MAX).join(", ")}${more})`];
}

function damageText({ file, offset, reason, lower, upper, sequenceMax }: FileDamage): string {
  const place = offset === undefined ? "" : ` at byte ${offset}`;
  if (sequenceMax < 0) return `${file} ${reason}${place}`;
  if (lower === undefined && upper === undefined) return `${file} ${reason}${place}: any change may be lost with it`;
  return `${file} ${reason}${place}: keys from ${keyText(lower, "the first")} to ${keyText(upper, "the last")}`;
}

function keyText(key: Uint8Array | undefined, open: string): string {
  return key === undefined ? open : Buffer.from(key).toString("hex").slice(0, 34);
}
