import type { ObjectId } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";
const REQUESTS = 3_000;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"];
const SEGMENTS = [
  "v1",
  "objects",
  U,
  "schema",
  "Car",
  "properties",
  "batch",
  "meta",
  "graphql",
  "%2e",
  "%",
  "",
  "..",
  "é",
];
const QUERIES = [
  "",
  "?",
  "?limit=1",
  "?limit=-9e9",
  "?include=vector,",
  "?after=%00",
  "?class=__proto__&offset=",
  "?%=&&==",
];
const HEADERS = [
  "Content-Type: application/json",
  "Content-Type: text/html",
  "Accept: */*;q=0",
  "Origin: null",
  "Expect: 100-continue",
  "Content-Encoding: gzip",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip",
  "X: \u0001",
];
const PIECES = [
  ...['{"', "class", '":', '"Car"', "[", "]", "{", "}", ",", ":", "null", "1e999", "-0", "1.0", '"\\ud800"', "\u0000"],
  ...[
    '"properties"',
    '"objects"',
    '"vector"',
    '"id"',
    '"__proto__"',
    '"query"',
    '"{Get{Car{name}}}"',
    `"${U}"`,
    "true",
  ],
];
const WHOLE = [
  '{"class":"Car","properties":{"n":1.0},"vector":[1]}',
  '{"objects":[null,{}]}',
  "null",
  "[]",
  '{"query":"{Get"}',
];

/** Grammar-aware nonsense: every response is a 2xx, 3xx or 4xx (501 for other transfer encodings) in the known shape, and the server lives. */
it("answers whatever it is sent", async () => {
  const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
  const { below, pick } = seededRandom(seed);
  const many = (most: number, from: readonly string[]): string[] =>
    Array.from({ length: below(most) }, () => pick(from));
  const server = await serveFakes({ headersTimeoutSeconds: 2, bodyTimeoutSeconds: 2 });
  server.services.put({ id: U as ObjectId }, '{"name":"x"}');
  await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
  try {
    for (let i = 0; i < REQUESTS; i++) {
      const path = below(3) === 0 ? `/${many(5, SEGMENTS).join("/")}` : `/v1/${pick(SEGMENTS)}/${pick(SEGMENTS)}`;
      const body = below(3) === 0 ? pick(WHOLE) : many(12, PIECES).join("");
      const headers = many(3, HEADERS);
      const isChunked = headers.some((header) => header.startsWith("Transfer-Encoding"));
      const length = isChunked ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
      const sent = isChunked ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
      const method = pick(METHODS);
      const lines = [
        `${method} ${path}${pick(QUERIES)} HTTP/1.1`,
        "Host: x",
        "Connection: close",
        ...length,
        ...headers,
      ];
      const bytes = `${lines.join("\r\n")}\r\n\r\n${sent}`;
      const response = await server.raw(bytes);
      const where = `seed ${seed}, request ${i}: ${JSON.stringify(bytes)}`;
      if (response === undefined) expect.fail(`no answer, ${where}`);
      // A response to HEAD has no body that would say so.
      const saysCoding = method === "HEAD" ? isChunked : response.body.includes("transfer encoding");
      const isOtherCoding = response.status === 501 && saysCoding;
      if (response.status >= 500 && response.status !== 503 && !isOtherCoding)
        expect.fail(`${response.status} ${response.body}, ${where}`);
      if (response.status < 400 || method === "HEAD") continue;
      const shape = JSON.parse(response.body) as { error?: { message?: unknown }[] };
      if (typeof shape.error?.[0]?.message !== "string") expect.fail(`${response.body}, ${where}`);
    }
    expect((await server.send("GET", "/v1/meta")).status).toBe(200);
  } finally {
    await server.gateway.stop();
  }
});
