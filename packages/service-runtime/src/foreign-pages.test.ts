import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { type ForeignPageSettings, ForeignPages, hostOf } from "./foreign-pages.js";

const NONE: ForeignPageSettings = { origin: "", allowedHosts: [], corsAllowOrigin: [], isEncrypted: false };

interface Asked {
  readonly method?: string;
  readonly url?: string;
  readonly host?: string;
  readonly origin?: string;
  readonly site?: string;
  readonly mode?: string;
  readonly dest?: string;
}

function request({ method = "POST", url = "/", host = "localhost:8080", origin, site, mode, dest }: Asked) {
  const all = { host, origin, "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest };
  const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== "-"));
  return { method, url, headers } as unknown as IncomingMessage;
}

function refuses(asked: Asked, settings: Partial<ForeignPageSettings> = {}, listensOn = "127.0.0.1"): boolean {
  const pages = new ForeignPages({ ...NONE, ...settings });
  pages.listensOn(listensOn);
  return pages.refusal(request(asked)) !== undefined;
}

const NAVIGATION: Asked = { method: "GET", site: "cross-site", mode: "navigate", dest: "document" };

describe("S1: pages", () => {
  it.each<Asked>([
    { origin: "http://evil.example" },
    { origin: "http://localhost:3000" },
    { origin: "http://localhost" },
    { origin: "http://127.0.0.1:8080" },
    { origin: "http://localhost:8080.evil.example" },
    { origin: "http://evil@localhost:8080" },
    { origin: "http://localhost:8080/" },
    { origin: "http://localhost:8080, http://evil.example" },
    { origin: "null" },
    { origin: "" },
    { origin: "localhost:8080" },
    { origin: "file://" },
    { origin: "chrome-extension://abcdef" },
    { origin: "http://evil.example", site: "same-origin" },
    { origin: "http://localhost:8080", site: "cross-site" },
    { origin: "http://localhost:8080", site: "same-site" },
    { origin: "http://localhost:8080", host: "-" },
    { site: "cross-site" },
    { site: "same-site" },
    { site: "some-day" },
    { method: "GET", site: "cross-site", mode: "no-cors", dest: "image" },
    { method: "GET", site: "cross-site", mode: "no-cors", dest: "script" },
    { method: "GET", site: "same-site", mode: "cors", dest: "empty" },
    { method: "GET", site: "cross-site", mode: "navigate", dest: "iframe" },
    { method: "GET", site: "cross-site", mode: "navigate", dest: "object" },
    { ...NAVIGATION, method: "POST" },
    { ...NAVIGATION, method: "POST", origin: "http://evil.example" },
    { ...NAVIGATION, method: "DELETE" },
  ])("%j are refused", (asked) => {
    expect(refuses(asked)).toBe(true);
  });

  it.each<Asked>([
    {},
    { mode: "cors" },
    { origin: "http://localhost:8080" },
    { origin: "https://localhost:8080" },
    { origin: "http://LOCALHOST:8080" },
    { origin: "http://localhost", host: "localhost" },
    { origin: "http://localhost", host: "localhost:80" },
    { origin: "https://localhost", host: "localhost:443" },
    { origin: "http://[::1]:8080", host: "[::1]:8080" },
    { origin: "http://localhost:8080", site: "same-origin" },
    { site: "same-origin" },
    { site: "none" },
    NAVIGATION,
    { ...NAVIGATION, site: "same-site" },
    { ...NAVIGATION, origin: "null" },
  ])("%j are not", (asked) => {
    expect(refuses(asked)).toBe(false);
  });

  it("S8: are refused without what stands before the host of a URL, which may be a key", () => {
    const pages = new ForeignPages(NONE);
    pages.listensOn("127.0.0.1");
    for (const asked of [{ url: "http://user:key@evil.example/v1/schema" }, { host: "user:key@evil.example" }]) {
      expect(pages.refusal(request(asked))).toMatch(/^"evil\.example" is no name of this server/);
    }
  });

  it("of ORIGIN are the server's own, whatever a proxy makes of Host", () => {
    const settings = { origin: "https://db.example.com/shoal" };
    expect(refuses({ origin: "https://db.example.com" }, settings)).toBe(false);
    expect(refuses({ origin: "https://db.example.com", site: "same-origin" }, settings)).toBe(false);
    expect(refuses({ origin: "http://db.example.com" }, settings)).toBe(true);
    expect(refuses({ origin: "https://db.example.com:8443" }, settings)).toBe(true);
    expect(refuses({ origin: "https://evil.example" }, settings)).toBe(true);
  });

  it("of another scheme are foreign where the port speaks TLS itself", () => {
    expect(refuses({ origin: "http://localhost:8080" }, { isEncrypted: true })).toBe(true);
    expect(refuses({ origin: "https://localhost:8080" }, { isEncrypted: true })).toBe(false);
  });

  it("that CORS_ALLOW_ORIGIN names are admitted, also without Fetch Metadata, and nobody else", () => {
    const settings = { corsAllowOrigin: ["http://localhost:3000", "chrome-extension://abcdef"] };
    expect(refuses({ origin: "http://localhost:3000", site: "same-site" }, settings)).toBe(false);
    expect(refuses({ origin: "chrome-extension://abcdef", site: "none" }, settings)).toBe(false);
    expect(refuses({ origin: "http://localhost:3001" }, settings)).toBe(true);
    expect(refuses({ origin: "null" }, settings)).toBe(true);
    expect(refuses({ site: "cross-site" }, settings)).toBe(true);
    const pages = new ForeignPages({ ...NONE, ...settings });
    expect(pages.allowOrigin("http://localhost:3000")).toBe("http://localhost:3000");
    expect(pages.allowOrigin("http://localhost:3001")).toBeUndefined();
    expect(pages.allowOrigin(undefined)).toBeUndefined();
  });

  it("are all admitted by *", () => {
    const settings = { corsAllowOrigin: ["*"] };
    for (const asked of [{ origin: "http://evil.example" }, { origin: "null" }, { site: "cross-site" }]) {
      expect(refuses(asked, settings)).toBe(false);
    }
    expect(new ForeignPages({ ...NONE, ...settings }).allowOrigin("null")).toBe("*");
    // A name that was pointed here is another matter.
    expect(refuses({ host: "evil.example" }, settings)).toBe(true);
  });

  it("name the setting that would admit them", () => {
    const pages = new ForeignPages(NONE);
    const text = (asked: Asked) => pages.refusal(request(asked));
    expect(text({ origin: "http://evil.example" })).toMatch(/"Origin: http:\/\/evil\.example".*CORS_ALLOW_ORIGIN/);
    expect(text({ origin: "null" })).toMatch(/"Origin: null".*CORS_ALLOW_ORIGIN=\*/);
    expect(text({ site: "cross-site" })).toMatch(/"Sec-Fetch-Site: cross-site".*CORS_ALLOW_ORIGIN=\*/);
    expect(text({ host: "evil.example:8080" })).toMatch(/"evil\.example:8080".*ALLOWED_HOSTS/);
    const closed = new ForeignPages({ ...NONE, corsAllowOrigin: undefined });
    expect(closed.refusal(request({ origin: "null" }))).not.toMatch(/CORS/);
  });
});

describe("S1: names that were pointed at a port of this machine alone", () => {
  const OWN = [
    "localhost",
    "localhost:1",
    "LocalHost.:8080",
    "127.0.0.1:8080",
    "127.9.9.9",
    "[::1]:8080",
    "a.localhost",
  ];
  const FOREIGN = [
    ...["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:8080@evil"],
    ...[
      "192.0.2.1:8080",
      "[::2]",
      "0.0.0.0",
      "evil.example#localhost",
      "localhost:80:80",
      "a b",
      "[::1",
      "localhost:x",
    ],
  ];
  it.each([...OWN, "-", ""])("%j is served", (host) => {
    expect(refuses({ host })).toBe(false);
    expect(refuses({ host }, {}, "::1")).toBe(false);
    expect(refuses({ host }, {}, "::ffff:127.0.0.1")).toBe(false);
  });

  it.each(FOREIGN)("%j is refused", (host) => {
    expect(refuses({ host })).toBe(true);
    expect(refuses({ host, origin: `http://${host}`, site: "same-origin" })).toBe(true);
    expect(refuses({ ...NAVIGATION, host })).toBe(true);
  });

  it("ORIGIN and ALLOWED_HOSTS name others, with any port", () => {
    const settings = { origin: "https://Db.Example.com:8443/x", allowedHosts: ["db.lan", "[fd00::1]", "192.0.2.1"] };
    for (const host of ["db.example.com", "DB.LAN:99", "[fd00:0::1]:1", "192.0.2.1", "localhost"]) {
      expect(refuses({ host }, settings), host).toBe(false);
    }
    for (const host of ["evil.example", "x.db.lan", "192.0.2.2"]) expect(refuses({ host }, settings), host).toBe(true);
    expect(refuses({ host: "evil.example" }, { allowedHosts: ["*"] })).toBe(false);
  });

  it("a request with a URL for a target is asked for that one's host", () => {
    expect(refuses({ url: "http://evil.example/v1/meta" })).toBe(true);
    expect(refuses({ url: "http://evil.example" })).toBe(true);
    expect(refuses({ url: "http://localhost:1/v1/meta" })).toBe(false);
    expect(refuses({ url: "*", method: "OPTIONS" })).toBe(false);
  });

  it("one that was accepted last does not open the door to others", () => {
    const pages = new ForeignPages(NONE);
    for (let round = 0; round < 2; round++) {
      expect(pages.refusal(request({ host: "localhost" }))).toBeUndefined();
      expect(pages.refusal(request({ host: "evil.example" }))).toBeDefined();
    }
  });

  it("on a port that others reach count when ALLOWED_HOSTS is set, addresses do not", () => {
    for (const address of ["0.0.0.0", "::", "192.0.2.1"]) {
      expect(refuses({ host: "anything.example" }, {}, address)).toBe(false);
      const settings = { allowedHosts: ["db.lan"] };
      expect(refuses({ host: "evil.example" }, settings, address)).toBe(true);
      for (const host of ["db.lan", "192.0.2.1:8080", "[2001:db8::1]:8080", "localhost", "-"]) {
        expect(refuses({ host }, settings, address), host).toBe(false);
      }
    }
  });
});

it("hosts have one form", () => {
  expect(hostOf("LOCALHOST.:8080")).toBe("localhost");
  expect(hostOf("127.1")).toBe("127.0.0.1");
  expect(hostOf("[0:0:0:0:0:0:0:1]:8080")).toBe("[::1]");
  expect(hostOf("")).toBeUndefined();
});
