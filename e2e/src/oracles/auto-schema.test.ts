import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { randomId, testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";

const seed = testSeed();
const random = seededRandom(seed).next;
const BATCH_TIMEOUT_MS = 60_000;

let server: ServerProcess;
beforeAll(async () => {
  console.log(`seed ${seed}`);
  server = await ServerProcess.start();
});
afterAll(() => server[Symbol.asyncDispose]());

type Properties = Readonly<Record<string, unknown>>;

async function post(className: string, id: string, properties: Properties): Promise<string> {
  const { status, text } = await server.http.post("/v1/objects", { class: className, id, vector: [1, 2], properties });
  return status === 200 ? "stored" : `${status} ${text}`;
}

async function importAll(items: readonly { className: string; id: string; properties: Properties }[]) {
  const objects = items.map(({ className, id, properties }) => ({ class: className, id, vector: [1, 2], properties }));
  const { status, json } = await server.http.post("/v1/batch/objects", { objects });
  expect(status).toBe(200);
  return (json as readonly unknown[]).map((one) =>
    at(one, "result", "errors") === undefined ? "stored" : String(at(one, "result", "errors", "error", 0, "message")),
  );
}

async function typesOf(className: string): Promise<Record<string, unknown>> {
  const { json } = await server.http.get(`/v1/schema/${className}`);
  const properties = at(json, "properties") as readonly { name: string; dataType: readonly string[] }[];
  return Object.fromEntries(properties.map(({ name, dataType }) => [name, dataType[0]]));
}

async function classNames(): Promise<unknown[]> {
  const { json } = await server.http.get("/v1/schema");
  return (at(json, "classes") as readonly unknown[]).map((one) => at(one, "class"));
}

async function isStored(id: string): Promise<boolean> {
  return (await server.http.get(`/v1/objects/${id}`)).status === 200;
}

describe("imports of one unseen class over many connections", () => {
  // covers: rest/9/class, rest/9/property
  it("make it once, lose no object, and survive a restart", async () => {
    const ids: string[] = [];
    const works = Array.from({ length: 80 }, async (_, at) => {
      const fresh = () => {
        const id = randomId(random);
        ids.push(id);
        return id;
      };
      const properties = { common: `t${at}`, [`p${at % 7}`]: at };
      if (at % 2 === 0) return [await post("shared", fresh(), properties)];
      return importAll(Array.from({ length: 10 }, () => ({ className: "Shared", id: fresh(), properties })));
    });
    expect(new Set((await Promise.all(works)).flat())).toEqual(new Set(["stored"]));
    expect(await classNames()).toEqual(["Shared"]);
    const types = await typesOf("Shared");
    expect(Object.keys(types).sort()).toEqual(["common", "p0", "p1", "p2", "p3", "p4", "p5", "p6"]);
    await server.stop();
    await server.launch();
    expect(await typesOf("Shared")).toEqual(types);
    for (const id of ids) expect(await isStored(id)).toBe(true);
  });

  // covers: spec/errors/auto-schema-conflict
  it("that infer different types: what is stored fits the schema, the others have the ordinary error", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const properties = { same: at % 2 === 0 ? at : `t${at}`, [`only${at % 2}`]: true };
        const id = randomId(random);
        const items = [{ className: "Clash", id, properties }];
        return { at, id, outcome: at % 3 === 0 ? (await importAll(items))[0] : await post("Clash", id, properties) };
      }),
    );
    const types = await typesOf("Clash");
    const winner = types.same === "number" ? 0 : 1;
    expect(types).toEqual({ same: winner === 0 ? "number" : "text", [`only${winner}`]: "boolean" });
    for (const { at, id, outcome } of outcomes) {
      if (at % 2 === winner) expect(outcome).toBe("stored");
      else expect(outcome).toMatch(/property 'same' on class 'Clash'/);
      expect(await isStored(id)).toBe(at % 2 === winner);
    }
  });

  it("go on while the class is deleted again and again", async () => {
    const outcomes: string[] = [];
    let deleted = 0;
    for (let round = 0; round < 12; round++) {
      const works = Array.from({ length: 12 }, async (_, at) => {
        if (at !== 6) return outcomes.push(await post("Restless", randomId(random), { [`p${(round + at) % 5}`]: at }));
        const { status } = await server.http.send("DELETE", "/v1/schema/Restless");
        expect([200, 400]).toContain(status);
        return status === 200 ? deleted++ : 0;
      });
      await Promise.all(works);
    }
    expect(deleted).toBeGreaterThan(0);
    // An object may meet the end of its class; it is told so, and the server goes on.
    for (const outcome of outcomes) expect(outcome).toMatch(/^stored$|^(404|422|503) .*Restless/);
    const last = randomId(random);
    expect(await post("Restless", last, { late: 1 })).toBe("stored");
    expect(await isStored(last)).toBe(true);
  });
});

// covers: rest/9/class
it(
  "a batch of 10,000 objects of an unseen class makes it in one go",
  async () => {
    const items = Array.from({ length: 10_000 }, (_, at) => ({
      className: "Ten",
      id: randomId(random),
      properties: { text: `word ${at}`, rank: at, ...(at === 9_999 ? { late: true } : {}) },
    }));
    expect(new Set(await importAll(items))).toEqual(new Set(["stored"]));
    expect(await typesOf("Ten")).toEqual({ text: "text", rank: "number", late: "boolean" });
  },
  BATCH_TIMEOUT_MS,
);
