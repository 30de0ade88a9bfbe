import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { serveFakes } from "../testing/serve-fakes.js";
import { invalidUtf8At } from "./incoming-body.js";

const SEED = Number(process.env.UTF8_SEED) || 20;

/** Where decoding a byte at a time fails: the oracle. The character that is not complete began earlier. */
function oracle(bytes: Buffer): number {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let begin = 0;
  for (let at = 0; at < bytes.length; at++) {
    try {
      if (decoder.decode(bytes.subarray(at, at + 1), { stream: true }) !== "") begin = at + 1;
    } catch {
      return begin;
    }
  }
  return begin;
}

describe(`the first byte that is no UTF-8, seed ${SEED}`, () => {
  it("is found where the oracle finds it", () => {
    const { below } = seededRandom(SEED);
    const pieces = ["a", "é", "€", "😀", "\u0000", "x".repeat(50)];
    const lengths = new Set<number>();
    for (let round = 0; round < 3_000; round++) {
      const text = Array.from({ length: below(200) }, () => pieces[below(pieces.length)]).join("");
      const bytes = Buffer.from(text);
      for (let damage = below(3); damage >= 0; damage--) {
        if (bytes.length > 0) bytes[below(bytes.length)] = [0xff, 0x80, 0xc3, 0xf0, 0xed, 0x41][below(6)] ?? 0;
      }
      const cut = bytes.subarray(0, below(bytes.length + 1));
      const expected = oracle(cut);
      expect(invalidUtf8At(cut, 0, cut.length), cut.toString("hex")).toBe(expected);
      lengths.add(expected);
    }
    expect(lengths.size).toBeGreaterThan(100);
  });
});

describe("a body that is no UTF-8", () => {
  it("is refused with its place, however long it is, and nothing of it is stored", async () => {
    const server = await serveFakes();
    server.services.addClassNamed("Car", [{ name: "name", dataType: ["text"] }]);
    const post = (body: Buffer, path = "/v1/objects") =>
      server.raw(
        Buffer.concat([
          Buffer.from(
            `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
          ),
          body,
        ]),
      );
    const body = (text: string) => Buffer.from(`{"class":"Car","properties":{"name":"${text}"}}`, "latin1");
    try {
      for (const path of ["/v1/objects", "/v1/objects/validate", "/v1/graphql", "/v1/schema", "/v1/batch/objects"]) {
        const response = await post(body("Citro\xebn"), path);
        expect(response?.status, path).toBe(400);
        expect(JSON.parse(response?.body ?? "").error[0].message).toBe(
          String.raw`the request body is not valid UTF-8: byte 42 is 0xeb, behind "operties\":{\"name\":\"Citro": send JSON in UTF-8`,
        );
      }
      for (const length of [300_000, 40_000_000]) {
        const response = await post(body(`${"x".repeat(length)}\xeb`));
        expect(response?.body).toContain(`byte ${length + 37} is 0xeb`);
      }
      expect((await post(Buffer.from(body("Citroën").toString("latin1"))))?.status).toBe(200);
    } finally {
      await server.gateway.stop();
    }
  });
});
