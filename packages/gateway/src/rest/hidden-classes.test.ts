import { type ClassAction, type ClassRights, normaliseClassName, ShoalError } from "@shoal/model";
import { silentLogger } from "@shoal/service-runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AccessControl, OPEN_ACCESS } from "../auth/access.js";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

/** May do everything to classes whose names begin with T, in any case, and nothing to others. */
const may = (_: ClassAction, name: string) => /^t/i.test(name);
const rights: ClassRights = {
  holder: { username: "ann", groups: [], userType: "db" },
  mayKnow: (name) => may("read_data", name),
  mayRead: (name) => may("read_data", name),
  maySeeShards: () => false,
  may,
  require: (action, name) => {
    if (!may(action, name)) throw new ShoalError("forbidden", `lacks ${action} of ${normaliseClassName(name)}`);
  },
};
const access: AccessControl = { ...OPEN_ACCESS, rightsOf: () => rights };

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes({}, undefined, undefined, silentLogger, access);
  server.services.addClassNamed("Payroll2026", []);
  server.services.addClassNamed("Tray2026", [{ name: "a", dataType: ["int"] }]);
});
afterAll(() => server.gateway.stop());

const reference = (className: string) => ({ name: "p", dataType: [className] });

it("S-roles: schema routes suggest only classes that one may see", async () => {
  const property = "/v1/schema/Tray2026/properties";
  const responses = await Promise.all([
    server.send("POST", "/v1/schema", { class: "Tnew", properties: [reference("TPayroll2026")] }),
    server.send("POST", property, reference("TPayroll2026")),
    server.send("POST", "/v1/schema/TPayroll2026/properties", reference("Tray2026")),
  ]);
  for (const { status, body } of responses) {
    expect(status).toBe(422);
    expect(body).toContain("could not find class 'TPayroll2026' in the schema: create it with POST /v1/schema first");
  }
  const { body } = await server.send("POST", property, reference("Tray2025"));
  expect(body).toContain("did you mean 'Tray2026'?");
});

it("S-roles: a class that one may not see is refused by its name, whether it is there or not", async () => {
  for (const name of ["Payroll2026", "Absent"]) {
    const { status, body } = await server.send("POST", "/v1/schema/Tray2026/properties", reference(name));
    expect([status, body]).toEqual([403, `{"error":[{"message":"lacks read_collections of ${name}"}]}\n`]);
  }
});

it("S-roles: what cannot be beside a hidden class is refused without naming it", async () => {
  server.services.addClassNamed("AggregateTaxes", []);
  const { status, body } = await server.send("POST", "/v1/schema", { class: "Taxes" });
  expect(status).toBe(422);
  expect(body).toContain("'AggregateTaxes' of class 'Taxes' would collide with that of another class");
});

it("S-roles: nor does a name that differs only in case name it", async () => {
  const folded = { ...rights, may: (_: ClassAction, name: string) => name === "XTOLL" || may(_, name) };
  const other = await serveFakes({}, undefined, undefined, silentLogger, {
    ...OPEN_ACCESS,
    rightsOf: () => ({ ...folded, require: () => {} }),
  });
  try {
    other.services.addClassNamed("XToll", []);
    const { status, body } = await other.send("POST", "/v1/schema", { class: "XTOLL" });
    expect(status).toBe(422);
    expect(body).not.toContain("XToll");
  } finally {
    await other.gateway.stop();
  }
});
