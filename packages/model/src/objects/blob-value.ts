/**
 * Whether `text` is what a blob property takes: non-empty standard base64 with padding, no data URL. Line breaks are
 * allowed, as in the reference's decoder. One pass without backtracking, whatever the size.
 */
export function isBase64(text: string): boolean {
  const packed = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, "") : text;
  if (packed.length === 0 || packed.length % 4 !== 0) return false;
  const padding = packed.endsWith("==") ? 2 : packed.endsWith("=") ? 1 : 0;
  return !/[^A-Za-z0-9+/]/.test(packed.slice(0, packed.length - padding));
}
