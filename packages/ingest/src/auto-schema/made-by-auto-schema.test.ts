import { ShoalError } from "@shoal/model";
import { undelivered } from "@shoal/rpc";
import { expect, it } from "vitest";
import { input, setUp } from "../ingest-setup.fixture.js";
import { withProperties } from "./auto-schema.fixture.js";
import type { MadeByAutoSchema } from "./auto-schema-settings.js";

it("U5: tells what a request has made, once a class, with what it may have been meant to be", async () => {
  const made: (MadeByAutoSchema & { readonly requestId: string | undefined })[] = [];
  const { ingest, context } = setUp({
    autoSchema: {},
    onMade: (one, { requestId }) => made.push({ ...one, requestId }),
  });
  const asked = { ...context, requestId: "r1" };
  const several = [
    withProperties("Cra", { a: "x" }),
    withProperties("Cra", { b: 1 }),
    withProperties("Car", { nmae: 1 }),
  ];
  await ingest.importObjects(several, asked);
  await ingest.importObjects(several, asked);
  await ingest.importObjects([input("Car", { properties: { name: "known" } })], asked);
  await ingest.importObjects([withProperties("Thing", { a: {} })], asked);
  expect(made).toEqual([
    {
      className: "Cra",
      isNewClass: true,
      properties: { a: "text", b: "number" },
      similarClass: "Car",
      similarProperties: {},
      requestId: "r1",
    },
    {
      className: "Car",
      isNewClass: false,
      properties: { nmae: "number" },
      similarClass: undefined,
      similarProperties: { nmae: "name" },
      requestId: "r1",
    },
  ]);
});

it("tells what it makes while its client goes away, and makes no more for it", async () => {
  const made: string[] = [];
  const { cluster, ingest, context } = setUp({ autoSchema: {}, onMade: ({ className }) => made.push(className) });
  const gone = new AbortController();
  cluster.beforeEnsure = async () => gone.abort(new ShoalError("unavailable", "the client has gone"));
  const inputs = [withProperties("Truck", { a: "x" }), withProperties("Van", { a: "x" })];
  await ingest.importObjects(inputs, { ...context, signal: gone.signal }).catch(() => undefined);
  expect(made).toEqual(["Truck"]);
  expect(["Truck", "Van"].filter((name) => cluster.classRecord(name) !== undefined)).toEqual(made);
});

it.each([
  ["lost on the way", undelivered(new ShoalError("unavailable", "lost"), "unknown"), true],
  ["too late", new ShoalError("deadlineExceeded", "late"), true],
  ["never sent", undelivered(new ShoalError("unavailable", "nobody is there"), "never"), false],
  ["refused", new ShoalError("invalid", "too many"), false],
])("tells what it may have made when the answer is that it was %s", async (_, failure, isReported) => {
  const made: (readonly [string, boolean, true | undefined])[] = [];
  const onMade = (one: MadeByAutoSchema) => made.push([one.className, one.isNewClass, one.isUnknown]);
  const { cluster, ingest, context } = setUp({ autoSchema: {}, onMade });
  cluster.beforeEnsure = () => Promise.reject(failure);
  const inputs = [withProperties("Truck", { a: "x" }), withProperties("Car", { more: "x" })];
  await ingest.importObjects(inputs, context);
  const reported = [
    ["Truck", true, true],
    ["Car", false, true],
  ];
  expect(made).toEqual(isReported ? reported : []);
});
