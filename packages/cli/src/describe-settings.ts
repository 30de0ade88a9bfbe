import { SETTINGS } from "@shoal/service-runtime";

/** Every setting with its default and meaning, one a line, as columns. */
export function describeSettings(): string {
  const rows = SETTINGS.map(({ variable, fallback, fallbackText, meaning }) => [
    variable,
    fallbackText ?? (fallback === "" ? "(empty)" : String(fallback ?? "")),
    meaning,
  ]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(([variable = "", fallback = "", meaning = ""]) =>
      `  ${variable.padEnd(widths[0] ?? 0)}  ${fallback.padEnd(widths[1] ?? 0)}  ${meaning}`.trimEnd(),
    )
    .join("\n");
}
