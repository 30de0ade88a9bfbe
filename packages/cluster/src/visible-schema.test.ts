import type { ClassRights } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import { describe, expect, it } from "vitest";
import type { SchemaView } from "./schema-view.js";
import { schemaSeenBy, visibleSnapshot } from "./visible-schema.js";

const record = (name: string) => ({ definition: { class: name }, classId: name }) as unknown as ClassRecord;
const snapshot: SchemaSnapshot = { historyId: "h", version: 3, classes: ["A", "B", "C"].map(record) };

function rightsTo(readable: string, known = readable): ClassRights {
  return {
    holder: { username: "ann", groups: [], userType: "db" },
    mayRead: (name) => readable.includes(name),
    mayKnow: (name) => known.includes(name),
    may: () => false,
    require: () => undefined,
    maySeeShards: () => false,
  };
}

const namesOf = ({ classes }: SchemaSnapshot) => classes.map(({ definition }) => definition.class).join("");

describe("the schema as somebody sees it", () => {
  it("has only his classes, and is the whole one for whoever sees all", () => {
    const rights = rightsTo("AC", "ABC");
    expect(namesOf(visibleSnapshot(snapshot, rights, "mayRead"))).toBe("AC");
    expect(visibleSnapshot(snapshot, rights, "mayKnow")).toBe(snapshot);
    expect(visibleSnapshot(snapshot, rights, "mayRead")).toMatchObject({ historyId: "h", version: 3 });
    expect(visibleSnapshot(snapshot, rightsTo(""), "mayRead").classes).toEqual([]);
  });

  it("is one object for all who see the same, and another one for another schema", () => {
    const seen = visibleSnapshot(snapshot, rightsTo("A"), "mayRead");
    expect(visibleSnapshot(snapshot, rightsTo("A"), "mayRead")).toBe(seen);
    const later = { ...snapshot, version: 4 };
    expect(visibleSnapshot(later, rightsTo("A"), "mayRead")).not.toBe(seen);
  });

  it("is a view of what it is seen of, which nobody wraps who has no rights to look at", async () => {
    let known = snapshot;
    const view: SchemaView = {
      get snapshot() {
        return known;
      },
      refresh: async () => undefined,
      classRecord: (name) => known.classes.find(({ definition }) => definition.class === name),
      onChange: () => ({ [Symbol.dispose]: () => undefined }),
    };
    expect(schemaSeenBy(view, {}, "mayRead")).toBe(view);
    const seen = schemaSeenBy(view, { rights: rightsTo("AD") }, "mayRead");
    expect([seen.classRecord("A")?.classId, seen.classRecord("B"), seen.isLost]).toEqual(["A", undefined, false]);
    known = { ...snapshot, version: 4, classes: ["B", "D"].map(record) };
    expect([namesOf(seen.snapshot), seen.classRecord("A"), seen.classRecord("D")?.classId]).toEqual([
      "D",
      undefined,
      "D",
    ]);
  });
});
