import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, at } from "../http-client.js";
import type { ServerProcess } from "../server-process.js";
import { MINE_ID, SECRET_ID, startRolesServer, UserClient } from "../testing/roles-server.js";

let server: ServerProcess;
let root: UserClient;
/** May do everything to objects of `Mine`, and nothing to those of `Secret`. */
let writer: UserClient;
/** May do everything to objects of both. */
let both: UserClient;

beforeAll(async () => {
  server = await startRolesServer();
  root = UserClient.of(server.url, "root");
  writer = UserClient.of(server.url, "writer");
  const permissions = ["Mine", "Secret"].flatMap((collection) =>
    ["create", "read", "update", "delete"].map((verb) => ({ action: `${verb}_data`, data: { collection } })),
  );
  await root.expect(201, "POST", "/v1/authz/roles", { name: "both", permissions });
  const { json } = await root.expect(201, "POST", "/v1/users/db/both", {});
  await root.expect(200, "POST", "/v1/authz/users/both/assign", { roles: ["both"], userType: "db" });
  both = new UserClient(server.url, String(at(json, "apikey")));
  const any = { name: "any", dataType: ["Mine", "Secret"] };
  await root.expect(200, "POST", "/v1/schema/Mine/properties", any);
});
afterAll(() => server?.[Symbol.asyncDispose]());

const beacon = (id: string) => ({ beacon: `weaviate://localhost/${id}` });

describe("S-roles: an id that is taken in a class which one cannot see", () => {
  const NAME = "of the attacker";
  const nameOf = (answer: Answer) => at(answer.json, "properties", "name");

  it("can be used, and who sees both classes goes on to get what was there first", async () => {
    const { text } = await writer.expect(200, "POST", "/v1/objects", {
      class: "Mine",
      vector: [1, 2],
      id: SECRET_ID,
      properties: { name: NAME },
    });
    expect(text).not.toMatch(/secret_|Secret/);
    expect(nameOf(await writer.get(`/v1/objects/${SECRET_ID}`))).toBe(NAME);
    for (const user of [both, root]) {
      expect(nameOf(await user.get(`/v1/objects/${SECRET_ID}`))).toBe("of Secret");
      const query = (argument: string) =>
        user.rows(
          `{ Get { Secret(nearObject: {${argument}}, limit: 1) { name _additional { certainty } } } }`,
          "Get",
          "Secret",
          "0",
        );
      for (const argument of [`id: "${SECRET_ID}"`, `beacon: "weaviate://localhost/${SECRET_ID}"`]) {
        expect(Number(at(await query(argument), "_additional", "certainty"))).toBeCloseTo(1, 3);
      }
      await user.expect(200, "PUT", `/v1/objects/${MINE_ID}/references/any`, [beacon(SECRET_ID)]);
      const reached = await user.rows(
        "{ Get { Mine { any { ... on Mine { mine: name } ... on Secret { secret: name } } } } }",
        "Get",
        "Mine",
      );
      expect(JSON.stringify(reached)).toContain('"secret":"of Secret"');
      expect(JSON.stringify(reached)).not.toContain(`"mine":"${NAME}"`);
    }
    // Calls that change act on the same one.
    await both.expect(200, "POST", `/v1/objects/${SECRET_ID}/references/next`, beacon(SECRET_ID));
    expect(at((await root.get(`/v1/objects/${SECRET_ID}`)).json, "properties", "next")).toHaveLength(1);
    expect(at((await writer.get(`/v1/objects/${SECRET_ID}`)).json, "properties", "next")).toBeUndefined();
    await both.expect(204, "DELETE", `/v1/objects/${SECRET_ID}`);
    expect(nameOf(await writer.get(`/v1/objects/${SECRET_ID}`))).toBe(NAME);
    await writer.expect(204, "DELETE", `/v1/objects/${SECRET_ID}`);
    expect((await root.get(`/v1/objects/${SECRET_ID}`)).status).toBe(404);
  });
});
