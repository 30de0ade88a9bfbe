/** From here on and up to there Go's shortest form has no exponent. */
const PLAIN_MIN = 1e-4;
const PLAIN_END = 1e6;

/** The value that the objects of a group share, as text; numbers in Go's shortest form (`1`, `2.5`, `1e+06`). */
export function groupText(value: string | number | boolean): string {
  return typeof value === "number" ? goNumber(value) : String(value);
}

/**
 * Go's `%v` of a float64, which is strconv.FormatFloat with 'g' and the fewest digits that give the number back: an
 * exponent of at least two digits when it is below -4 or above 5.
 */
function goNumber(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= PLAIN_MIN && size < PLAIN_END)) return String(value);
  const [digits = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  const sign = exponent < 0 ? "-" : "+";
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
