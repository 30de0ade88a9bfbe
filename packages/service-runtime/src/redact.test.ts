import { describe, expect, it } from "vitest";
import { LOG_LIMITS, redactFields, redactText } from "./redact.js";

const SECRET = "s3cr3tValue";

describe("texts in a log", () => {
  it.each([
    `GET /v1/objects?limit=1&access_token=${SECRET}&x=1`,
    `GET /v1/objects?access_token=${SECRET}`,
    `?refresh-token=${SECRET};`,
    `Authorization: Bearer ${SECRET}`,
    `authorization:Basic ${SECRET}==`,
    `Authorization: Own ${SECRET} ${SECRET}`,
    `bearer  ${SECRET}`,
    `Bearer%20${SECRET}`,
    `cookie: a=${SECRET}; b=${SECRET}`,
    `{"password":"${SECRET}","user":"a"}`,
    `{"password" : "a\\"${SECRET}"}`,
    `{\\"client_secret\\":\\"${SECRET}\\"}`,
    `grant_type=password&username=a&password=${SECRET}&client_secret=${SECRET}`,
    `password: '${SECRET} ${SECRET}'`,
    `api_key=${SECRET}`,
    `token%3D${SECRET}`,
    `GET http://${SECRET}@db.example:8080/v1/schema`,
    `connecting to https://user:p@${SECRET}@[::1]/, failed`,
    `jwt eyJhbGciOiJIUzI1NiJ9.${SECRET}.${SECRET}`,
    `the token eyJhbGciOiJIUzI1NiJ9.${SECRET}. was refused`,
  ])("%s", (text) => {
    const safe = redactText(text);
    expect(safe).not.toContain(SECRET);
    expect(safe).toContain("[redacted]");
  });

  it.each([
    "tokenization: word",
    "https://db.example/a@b",
    "ask a@b.example // c",
    "class 'Secretary'",
    "a token was refused",
    "{ Get { Car { name } } }",
  ])("%s is left alone", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("are bounded and hold nothing that moves a terminal", () => {
    const long = redactText("x".repeat(1_000_000));
    expect(long.length).toBeLessThan(LOG_LIMITS.textCharsMax + 64);
    expect(long).toContain("(1000000 characters)");
    expect(redactText("a\r\u001b[31mb\u009b\u2028\u202ec\u0000")).toBe(
      "a\\u000d\\u001b[31mb\\u009b\\u2028\\u202ec\\u0000",
    );
  });

  it.each(['password="', "password=", 'password="\\', "bearer ", "ey", "cookie:", "//a:", "//"])(
    "%j a thousand times over is read in one go",
    (text) => {
      // A pattern that tries again from every place would take minutes here.
      expect(redactText(text.repeat(100_000), 100_000).length).toBeGreaterThan(0);
    },
  );
});

describe("fields of a line", () => {
  it("lose secrets at every depth, whatever holds them", () => {
    const error = new Error(`Bearer ${SECRET}`, { cause: new Error(`password=${SECRET}`) });
    const fields = {
      Authorization: SECRET,
      "X-Api-Key": SECRET,
      "set-cookie": [SECRET],
      a: { b: { c: { d: { access_token: SECRET, clientSecret: SECRET } } } },
      headers: ["Host", "x", "Authorization", SECRET, "Cookie", SECRET],
      list: [{ password: SECRET }, [{ refreshToken: SECRET }]],
      map: new Map([["token", SECRET]]),
      set: new Set([{ id_token: SECRET }]),
      error,
      all: new AggregateError([error]),
    };
    const text = JSON.stringify(redactFields(fields));
    expect(text).not.toContain(SECRET);
    expect(JSON.parse(text)).toMatchObject({ error: { name: "Error", cause: {} }, list: [{}, [{}]] });
  });

  it("are bounded in depth, number and size, and survive what is no JSON", () => {
    const circle: Record<string, unknown> = { big: 1n, run: () => 1, bytes: new Uint8Array(9), none: undefined };
    circle.self = circle;
    const safe = redactFields({
      circle,
      many: Array.from({ length: 10_000 }, () => "x".repeat(10_000)),
      wide: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, i])),
      __proto__: { polluted: 1 },
    });
    const text = JSON.stringify(safe);
    expect(text.length).toBeLessThan(200_000);
    expect(safe.circle).toMatchObject({ big: "1", run: "[function]", bytes: "[9 bytes]" });
    expect(text).toContain("[deep]");
    expect(text).toContain("(10000 items)");
    const own = redactFields(JSON.parse('{"__proto__":{"polluted":1}}') as object);
    expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
    expect(JSON.stringify(own)).toBe('{"__proto__":{"polluted":1}}');
  });
});
