import type { MeasuredRecall } from "@shoal/model";
import { effortNumbers, readEffort, type SearchEffort } from "@shoal/native";

/** What an index has measured of its searches, and the effort that follows from it: what a snapshot keeps. */
export interface Calibration extends MeasuredRecall {
  readonly effort: SearchEffort;
}

/** Version, target, recall, error, candidates, sample, 1 for asked queries, linked, time; then the numbers of the effort. */
const NUMBERS = 9;
const VERSION = 1;
const NUMBER_BYTES = 8;

/** Float64 numbers, little-endian; no bytes without a calibration. */
export function encodeCalibration(calibration: Calibration | undefined): Buffer {
  if (calibration === undefined) return Buffer.alloc(0);
  const { target, recall, error, candidates, sample, queries, linked, measuredAtMs, effort } = calibration;
  const isAsked = queries === "asked" ? 1 : 0;
  const numbers = [VERSION, target, recall, error, candidates, sample, isAsked, linked, measuredAtMs];
  const all = [...numbers, ...effortNumbers(effort)];
  const bytes = Buffer.alloc(all.length * NUMBER_BYTES);
  all.forEach((number, at) => {
    bytes.writeDoubleLE(number, at * NUMBER_BYTES);
  });
  return bytes;
}

/** Undefined for what no calibration of this version looks like: then the index measures again. */
export function decodeCalibration(bytes: Buffer): Calibration | undefined {
  const all = Array.from({ length: Math.floor(bytes.length / NUMBER_BYTES) }, (_, at) =>
    bytes.readDoubleLE(at * NUMBER_BYTES),
  );
  if (all[0] !== VERSION || !all.every((number) => number >= 0 && Number.isFinite(number))) return undefined;
  const [, target = 0, recall = 0, error = 0, candidates = 0, sample = 0, isAsked, linked = 0, measuredAtMs = 0] = all;
  const effort = readEffort(all.slice(NUMBERS));
  if (effort === undefined) return undefined;
  const queries = isAsked === 1 ? "asked" : "rows";
  return { target, recall, error, candidates, sample, queries, linked, measuredAtMs, effort };
}
