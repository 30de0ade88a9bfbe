import type { Setting } from "./setting.js";

const UNITS: readonly (readonly [number, string])[] = [
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
];

/** A setting's default in words, for the documentation: `268435456 (256 MiB)`, or `(empty)`. */
export function describeDefault({
  variable,
  fallback,
  fallbackText,
  fallbackPart,
}: Pick<Setting<unknown>, "variable" | "fallback" | "fallbackText" | "fallbackPart">): string {
  if (fallbackText !== undefined) return fallbackText;
  if (fallback === undefined || fallback === "" || (Array.isArray(fallback) && fallback.length === 0)) return "(empty)";
  if (!/BYTES/.test(variable) || typeof fallback !== "number" || fallback === 0) return String(fallback);
  const unit = UNITS.find(([size]) => fallback % size === 0);
  const bytes = unit === undefined ? String(fallback) : `${fallback} (${fallback / unit[0]} ${unit[1]})`;
  return fallbackPart === undefined ? bytes : `${bytes}, at most 1/${1 / fallbackPart} of MEMORY_BUDGET_BYTES`;
}
