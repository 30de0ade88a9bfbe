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
