/**
 * Orders texts by their UTF-8 bytes, which is by code points. The order of UTF-16 units differs in one thing: surrogates
 * stand below U+E000 there, and code points beyond U+FFFF above.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return place(left) - place(right);
  }
  return a.length - b.length;
}

function place(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
