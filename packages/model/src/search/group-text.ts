/** Powers of ten that Go's shortest form writes without an exponent. */
const EXPONENT_MIN = -4;
const EXPONENT_MAX = 5;

/** The value that the objects of a group share, as text; numbers in Go's shortest form (`1`, `2.5`, `1e+06`). */
export function groupText(value: string | number | boolean): string {
  return typeof value === "number" ? goNumber(value) : String(value);
}

/**
 * Go's `%v` of a float64, which is strconv.FormatFloat with 'g' and the fewest digits that give the number back: an
 * exponent of at least two digits when it is below -4 or above 5.
 */
function goNumber(value: number): string {
  const [digits = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= EXPONENT_MIN && exponent <= EXPONENT_MAX) return String(value);
  const sign = exponent < 0 ? "-" : "+";
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
