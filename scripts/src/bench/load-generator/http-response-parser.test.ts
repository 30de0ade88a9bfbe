import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type HttpResponse, HttpResponseParser } from "./http-response-parser.js";

const seed = 31;

function written(status: number, body: Buffer, random: () => number): Buffer {
  const head = `HTTP/1.1 ${status} Whatever\r\nDate: today\r\n`;
  if (status === 204) return Buffer.from(`${head}\r\n`);
  if (random() < 0.5) {
    const name = random() < 0.5 ? "Content-Length" : "content-length";
    return Buffer.concat([Buffer.from(`${head}${name}: ${body.length}\r\n\r\n`), body]);
  }
  const parts: Buffer[] = [Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`)];
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + 1 + Math.floor(random() * 50));
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
    at += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

function fedInPieces(parser: HttpResponseParser, bytes: Buffer, random: () => number): HttpResponse | undefined {
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + 1 + Math.floor(random() * 80));
    at += piece.length;
    const response = parser.feed(Buffer.from(piece));
    if (response !== undefined) {
      expect(at).toBe(bytes.length);
      return response;
    }
  }
  return undefined;
}

describe("HttpResponseParser", () => {
  it(`reads response after response, in any pieces (seed ${seed})`, () => {
    const random = seededRandom(seed).next;
    const parser = new HttpResponseParser();
    for (let round = 0; round < 500; round++) {
      const status = [200, 204, 404, 422, 500][Math.floor(random() * 5)] ?? 200;
      const length = status === 204 ? 0 : Math.floor(random() * 400);
      // Bodies may look like heads and chunks.
      const body = Buffer.from("x\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK content-length: 3\r\n".repeat(20).slice(0, length));
      const bytes = written(status, body, random);
      const response = random() < 0.3 ? parser.feed(bytes) : fedInPieces(parser, bytes, random);
      expect(response?.status).toBe(status);
      expect(response?.body.toString()).toBe(body.toString());
    }
  });

  it.each([
    ["nothing HTTP", "garbage\r\n\r\n"],
    ["a body to the end of the connection", "HTTP/1.1 200 OK\r\n\r\n"],
    ["bytes behind the response", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab"],
    ["a chunk without a length", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
  ])("refuses %s", (_, text) => {
    expect(() => new HttpResponseParser().feed(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: "malformed" }),
    );
  });
});
