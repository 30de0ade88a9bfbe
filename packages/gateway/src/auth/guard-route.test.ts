import { connect } from "node:net";
import { ShoalError } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { type AccessControl, OPEN_ACCESS } from "./access.js";

const U = "11111111-1111-1111-1111-111111111111";
const REFUSAL = new ShoalError("forbidden", "forbidden: nobody may do anything");
const FORBIDDEN = `{"error":[{"message":"${REFUSAL.message}"}]}\n`;
const CLOSED: AccessControl = {
  ...OPEN_ACCESS,
  authorize() {
    throw REFUSAL;
  },
};

/** A text is a body as it is. */
type Asked = [method: string, path: string, body?: unknown];

/** Faults of the format, which only who is granted the route reads. */
const MISSHAPEN: readonly Asked[] = [
  ["GET", "/v1/objects/foo"],
  ["HEAD", "/v1/objects/foo"],
  ["DELETE", "/v1/objects/foo"],
  ["PUT", "/v1/objects/foo", {}],
  ["PUT", `/v1/objects/${U}`],
  ["PUT", `/v1/objects/${U}`, { class: 7 }],
  ["PATCH", "/v1/objects/foo", {}],
  ["PATCH", `/v1/objects/${U}`, "[]"],
  ["POST", "/v1/objects"],
  ["POST", "/v1/objects", "{"],
  ["POST", "/v1/objects", { vector: ["x"] }],
  ["POST", "/v1/objects/validate"],
  ["POST", "/v1/objects/validate", { id: 5 }],
  ["GET", "/v1/objects?limit=abc"],
  ["GET", "/v1/objects?offset=1.5"],
  ["GET", "/v1/objects?class=Car&after=foo"],
  ["GET", "/v1/objects?class=Car&after=foo&include=foo"],
  ["POST", `/v1/objects/foo/references/r`, {}],
  ["POST", `/v1/objects/${U}/references/r`, { beacon: "x" }],
  ["POST", `/v1/objects/${U}/references/r`, []],
  ["PUT", `/v1/objects/${U}/references/r`, {}],
  ["PUT", `/v1/objects/${U}/references/r`, [{ beacon: "x" }]],
  ["DELETE", `/v1/objects/${U}/references/r`],
  ["DELETE", `/v1/objects/${U}/references/r`, { beacon: "x" }],
  ["POST", "/v1/batch/objects"],
  ["POST", "/v1/batch/objects", []],
  ["POST", "/v1/batch/objects", { objects: [{}], fields: ["x"] }],
  ["POST", "/v1/batch/references"],
  ["POST", "/v1/batch/references", {}],
  ["POST", "/v1/batch/references", [{ from: "x" }]],
  ["POST", "/v1/schema"],
  ["POST", "/v1/schema", { class: 5 }],
  ["PUT", "/v1/schema/Car", { class: "Car", vectorizer: {} }],
  ["POST", "/v1/schema/Car/properties"],
  ["POST", "/v1/schema/Car/properties", { dataType: "int" }],
  ["POST", "/v1/graphql"],
  ["POST", "/v1/graphql", []],
  ["POST", "/v1/graphql", { query: 5 }],
];

/** Well-formed. */
const WELL_FORMED: readonly Asked[] = [
  ["GET", `/v1/objects/${U}`],
  ["GET", `/v1/objects/${U}?include=foo`],
  ["GET", `/v1/${U}`],
  ["GET", "/v1/objects?include=foo"],
  ["GET", "/v1/objects?limit=-1"],
  ["POST", "/v1/objects", {}],
  ["POST", "/v1/objects", "null"],
  ["PUT", `/v1/objects/${U}`, { class: "Nowhere" }],
  ["POST", `/v1/objects/${U}/references/r`, {}],
  ["POST", "/v1/batch/objects", {}],
  ["POST", "/v1/batch/references", []],
  ["POST", "/v1/schema", { class: "7" }],
  ["POST", "/v1/graphql", { query: "" }],
  ["GET", "/v1/schema/nowhere"],
];

const WRONG_IDS: readonly Asked[] = [
  ["POST", "/v1/objects", { id: "x" }],
  ["POST", "/v1/objects/validate", { id: "x" }],
  ["PUT", `/v1/objects/${U}`, { id: "x" }],
  ["PATCH", `/v1/objects/${U}`, { id: "x" }],
  ["POST", "/v1/batch/objects", { objects: [{}, null, { id: "x" }] }],
];

describe("whoever may not use a route", () => {
  let closed: FakeGateway;
  let open: FakeGateway;

  beforeAll(async () => {
    closed = await serveFakes({}, undefined, undefined, undefined, CLOSED);
    open = await serveFakes();
  });
  afterAll(() => Promise.all([closed.gateway.stop(), open.gateway.stop()]));

  it.each(MISSHAPEN)(
    "S2: reads that %s %s %j is forbidden, and who may use it what is wrong with it",
    async (...asked) => {
      const [reported, granted] = [await closed.send(...asked), await open.send(...asked)];
      expect([400, 422]).toContain(granted.status);
      expect([reported.status, reported.body]).toEqual([403, asked[0] === "HEAD" ? "" : FORBIDDEN]);
    },
  );

  it.each([...WELL_FORMED, ...WRONG_IDS])("S2: reads that %s %s %j is forbidden", async (method, path, body) => {
    expect(await closed.send(method, path, body)).toMatchObject({ status: 403, body: FORBIDDEN });
  });

  it("S2: is answered before a byte of the body has come, whatever its media type", async () => {
    for (const type of ["application/json", "text/plain"]) {
      const head = `POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 100000\r\n\r\n`;
      expect(await closed.raw(head)).toMatchObject({ status: 403, body: FORBIDDEN });
    }
  });
});

describe("what is revoked while a body comes", () => {
  const BODY = JSON.stringify({ class: "Car", properties: { name: "late" } });
  const HEAD = `POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer k\r\n`;

  /** Sends half of a body, and the other half when its beginning has been admitted and `between` has run. */
  async function slowly(access: AccessControl, between: () => void): Promise<string> {
    let isAdmitted = false;
    const watched: AccessControl = {
      ...access,
      authorize(...asked) {
        access.authorize(...asked);
        isAdmitted = true;
      },
    };
    const server = await serveFakes({}, undefined, undefined, undefined, watched);
    const socket = connect(server.port, "127.0.0.1");
    try {
      let received = "";
      socket.on("data", (chunk) => {
        received += String(chunk);
      });
      socket.write(`${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 10)}`);
      await expect.poll(() => isAdmitted).toBe(true);
      between();
      socket.write(BODY.slice(10));
      await expect.poll(() => received, { timeout: 10_000 }).toContain("\r\n\r\n");
      return received.slice("HTTP/1.1 ".length, "HTTP/1.1 ".length + 3);
    } finally {
      socket.destroy();
      await server.gateway.stop();
    }
  }

  it("counts: a key", async () => {
    let isGood = true;
    const principal = { username: "ann", groups: [], userType: "db" } as const;
    const access: AccessControl = {
      ...OPEN_ACCESS,
      identify() {
        if (isGood) return principal;
        throw new ShoalError("unauthenticated", "unauthorized: invalid api key");
      },
    };
    const revoke = () => {
      isGood = false;
    };
    expect(await slowly(access, () => {})).toBe("200");
    expect(await slowly(access, revoke)).toBe("401");
  });

  it("counts: the right to use the route", async () => {
    let mayUse = true;
    const access: AccessControl = {
      ...OPEN_ACCESS,
      identify: () => Promise.resolve({ username: "ann", groups: [], userType: "oidc" }),
      authorize() {
        if (!mayUse) throw REFUSAL;
      },
    };
    const revoke = () => {
      mayUse = false;
    };
    expect(await slowly(access, revoke)).toBe("403");
  });
});
