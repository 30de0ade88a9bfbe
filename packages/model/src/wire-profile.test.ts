import { describe, expect, it } from "vitest";
import { SPEC_PROFILE, WEAVIATE_PROFILE, wireProfile } from "./wire-profile.js";

describe("wireProfile", () => {
  it("knows two profiles that differ in every point", () => {
    expect(wireProfile("spec")).toBe(SPEC_PROFILE);
    expect(wireProfile("weaviate")).toBe(WEAVIATE_PROFILE);
    expect(Object.keys(SPEC_PROFILE).sort()).toEqual(Object.keys(WEAVIATE_PROFILE).sort());
    for (const key of Object.keys(SPEC_PROFILE) as (keyof typeof SPEC_PROFILE)[]) {
      expect(SPEC_PROFILE[key], key).not.toEqual(WEAVIATE_PROFILE[key]);
    }
  });

  it.each(["", "Spec", "toString", "__proto__"])("refuses '%s'", (name) => {
    expect(() => wireProfile(name)).toThrow(`WIRE_PROFILE must be 'spec' or 'weaviate', got '${name}'`);
  });
});
