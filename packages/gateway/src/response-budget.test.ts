import type { ObjectId } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { ResponseBudget } from "./response-budget.js";
import { serveFakes } from "./testing/serve-fakes.js";

const KIB = 1024;
const MIB = 1024 * KIB;

const clientOf = (owner: string) => ({ share: { owner, connection: 1 } });
const [ALICE, BOB] = [clientOf("alice"), clientOf("bob")];

describe("ResponseBudget", () => {
  it("gets back what an answer held, and nothing of what comes late", () => {
    const budget = new ResponseBudget({ answerBytesMax: 100 * KIB, answersBytesMax: 150 * KIB });
    const [first, second] = [budget.begin(ALICE), budget.begin(BOB)];
    first.addText(60 * KIB);
    first.setText(90 * KIB);
    second.addText(60 * KIB);
    expect(budget.budget.held).toBe(150 * KIB);
    expect(() => second.addText(1)).toThrow("ANSWERS_BYTES_MAX");
    expect(() => first.setText(101 * KIB)).toThrow(`more than ${100 * KIB} bytes (ANSWER_BYTES_MAX)`);
    first.end();
    expect(() => first.addText(1)).toThrow();
    second.end();
    expect(budget.budget.held).toBe(0);
    expect(() => second.add(1)).toThrow("ANSWERS_BYTES_MAX");
    expect(budget.budget.held).toBe(0);
  });

  it("lets rows go for the text that is made of them, and bounds either", () => {
    const budget = new ResponseBudget({ answerBytesMax: 100 * KIB, answersBytesMax: 150 * KIB });
    const response = budget.begin(ALICE);
    response.add(90 * KIB);
    for (let at = 0; at < 9; at++) {
      response.add(-10 * KIB);
      response.addText(11 * KIB);
    }
    expect(budget.budget.held).toBe(99 * KIB);
    expect(() => response.addText(2 * KIB)).toThrow("ANSWER_BYTES_MAX");
    response.end();
    expect(budget.budget.held).toBe(0);
    expect(() => budget.begin(ALICE).add(101 * KIB)).toThrow("ANSWER_BYTES_MAX");
    expect(budget.budget.held).toBe(0);
  });

  it("lets an object of any size be read, alone if it must be", () => {
    const budget = new ResponseBudget({ answerBytesMax: 100 * KIB, answersBytesMax: 150 * KIB });
    const [object, other] = [budget.beginObject(ALICE), budget.beginObject(BOB)];
    object.add(100 * KIB);
    object.add(100 * KIB);
    expect(budget.budget.held).toBe(200 * KIB);
    expect(() => other.add(100 * KIB)).toThrow("ANSWERS_BYTES_MAX");
    object.end();
    other.end();
    expect(budget.budget.held).toBe(0);
  });

  it("lets small answers be made whatever others take", () => {
    const budget = new ResponseBudget({ answerBytesMax: MIB, answersBytesMax: MIB });
    budget.begin(ALICE).add(MIB);
    const small = budget.begin(BOB);
    small.add(10 * KIB);
    small.addText(6 * KIB);
    expect(() => small.addText(1)).toThrow("ANSWERS_BYTES_MAX");
    small.end();
    expect(budget.budget.held).toBe(MIB);
  });

  it("S11: keeps some room for who holds little, whatever one client asks for", () => {
    const budget = new ResponseBudget({ answerBytesMax: MIB, answersBytesMax: MIB });
    const responses = Array.from({ length: 8 }, () => budget.begin(ALICE));
    expect(() => responses.forEach((response) => void response.add(MIB / 8))).toThrow("ANSWERS_BYTES_MAX");
    budget.begin(BOB).add(MIB / 8);
    expect(budget.budget.held).toBe(MIB);
  });
});

describe("large answers over REST", () => {
  const put = (server: Awaited<ReturnType<typeof serveFakes>>, count: number, bytes: number) => {
    for (let at = 0; at < count; at++) {
      const id = `11111111-1111-1111-1111-${String(at).padStart(12, "0")}` as ObjectId;
      server.services.put({ id }, `{"text":"${"x".repeat(bytes)}"}`);
    }
  };

  it("a list of more than ANSWER_BYTES_MAX gets 413, a single object of that size is answered", async () => {
    const server = await serveFakes({ answerBytesMax: MIB, answersBytesMax: 8 * MIB });
    try {
      put(server, 3, 400 * KIB);
      expect(await server.send("GET", "/v1/objects")).toMatchObject({
        status: 413,
        body:
          '{"error":[{"message":"the answer, or the rows it is made of, take more than 1048576 bytes ' +
          '(ANSWER_BYTES_MAX): ask for fewer rows"}]}\n',
      });
      server.services.objects.clear();
      put(server, 1, 2 * MIB);
      expect((await server.send("GET", "/v1/objects/11111111-1111-1111-1111-000000000000")).status).toBe(200);
    } finally {
      await server.gateway.stop();
    }
  });

  it("a text that grows beyond it gets 413, too", async () => {
    const server = await serveFakes({ answerBytesMax: MIB, answersBytesMax: 8 * MIB });
    try {
      const vector = Float32Array.from({ length: 1_000 }, (_, at) => Math.sin(at));
      for (let at = 0; at < 200; at++) {
        const id = `11111111-1111-1111-1111-${String(at).padStart(12, "0")}` as ObjectId;
        server.services.put({ id, vector }, "{}");
      }
      const listed = await server.send("GET", "/v1/objects?include=vector");
      expect(listed).toMatchObject({ status: 413 });
      expect((await server.send("GET", "/v1/objects")).status).toBe(200);
    } finally {
      await server.gateway.stop();
    }
  });

  it("a list that is alone and takes more than all may gets 413, objects that together do 429 with Retry-After, small ones are answered", async () => {
    const server = await serveFakes({ answerBytesMax: 8 * MIB, answersBytesMax: 3 * MIB });
    try {
      put(server, 2, 2 * MIB);
      for (const path of ["/v1/objects", "/v1/objects?limit=10"]) {
        const refused = await server.send("GET", path);
        expect(refused).toMatchObject({ status: 413 });
        expect(refused.body).toContain(
          `more than the ${3 * MIB} bytes of all answers (ANSWERS_BYTES_MAX): ask for fewer rows`,
        );
      }
      const one = "/v1/objects/11111111-1111-1111-1111-000000000000";
      const together = await Promise.all(Array.from({ length: 4 }, () => server.send("GET", one)));
      expect(new Set(together.map(({ status }) => status)).has(200)).toBe(true);
      for (const { status, body, headers } of together) {
        if (status === 200) continue;
        expect([status, headers.get("retry-after")]).toEqual([429, "1"]);
        expect(body).toContain(`the answers under way take more than ${3 * MIB} bytes (ANSWERS_BYTES_MAX)`);
      }
      server.services.objects.clear();
      put(server, 2, 10);
      expect((await server.send("GET", "/v1/objects")).status).toBe(200);
    } finally {
      await server.gateway.stop();
    }
  });
});
