const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const CHARS = 16;

/** A name for a class's data on disk: 16 lower-case letters and digits, 82 random bits. */
export function newClassId(random: (below: number) => number): string {
  return Array.from({ length: CHARS }, () => ALPHABET[random(ALPHABET.length)] ?? "").join("");
}
