/**
 * The Content-Security-Policy of a page: everything comes from the gateway itself, nothing inline runs, nobody may frame
 * it. `data:` images are the icons in style sheets. `connectTo` are the origins that it may talk to besides.
 */
export function pagePolicy(connectTo: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...connectTo].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
