import type { ClassificationRecord, ClassificationService } from "@shoal/classification";
import type { SchemaView } from "@shoal/cluster";
import type { ClassRights } from "@shoal/model";
import { expect, it } from "vitest";
import { PermittedClassifications } from "./permitted-classifications.js";

const MINE = {
  definition: {
    class: "Mine",
    properties: [
      { name: "next", dataType: ["Mine"] },
      { name: "other", dataType: ["Secret"] },
    ],
  },
};
const RECORD = { id: "1", class: "Mine", classifyProperties: ["next"] };
const about = (path: readonly string[]) => ({ operands: null, operator: "Equal", path, valueText: "top secret" });
const both = (...operands: readonly object[]) => ({ operands, operator: "And", path: null });

/** Whether a user who may read these classes finds a record. */
async function isFound(record: object, readable: readonly string[], isClassThere = true): Promise<boolean> {
  const found = { ...RECORD, ...record } as unknown as ClassificationRecord;
  const inner = { find: async () => found } as Partial<ClassificationService> as ClassificationService;
  let isKnown = false;
  const refresh = async () => {
    isKnown = true;
  };
  const classRecord = () => (isClassThere && isKnown ? MINE : undefined);
  const view = { refresh, classRecord } as unknown as SchemaView;
  const mayRead = (name: string) => readable.includes(name);
  const rights = { mayRead } as Partial<ClassRights> as ClassRights;
  const context = { deadline: Number.POSITIVE_INFINITY, rights };
  return (await new PermittedClassifications(inner, view).find("1", context)) === found;
}

it.each([
  ["sourceWhere", { sourceWhere: about(["other", "Secret", "name"]) }],
  ["trainingSetWhere", { trainingSetWhere: both(about(["name"]), both(about(["other", "Secret", "name"]))) }],
  ["targetWhere", { targetWhere: about(["next", "Mine", "other", "Secret", "name"]) }],
])(
  "S-roles: a classification whose %s goes through a class is there for those who may read that",
  async (_, filters) => {
    expect(await isFound({ filters }, ["Mine"])).toBe(false);
    expect(await isFound({ filters }, ["Secret"])).toBe(false);
    expect(await isFound({ filters }, ["Mine", "Secret"])).toBe(true);
  },
);

it("S-roles: a targetWhere is about the classes that the properties refer to", async () => {
  const record = { classifyProperties: ["other"], filters: { targetWhere: about(["name"]) } };
  expect(await isFound(record, ["Mine"])).toBe(false);
  expect(await isFound(record, ["Mine", "Secret"])).toBe(true);
  // Which ones these were nobody knows any more.
  expect(await isFound(record, ["Mine", "Secret"], false)).toBe(false);
});

it("S-roles: one without such filters is there for those who may read its class", async () => {
  for (const filters of [undefined, {}, { sourceWhere: about(["name"]), targetWhere: about(["name"]) }]) {
    expect(await isFound({ filters }, ["Mine"])).toBe(true);
    expect(await isFound({ filters }, [])).toBe(false);
  }
});
