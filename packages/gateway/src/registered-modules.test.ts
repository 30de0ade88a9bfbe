import { isUnbuiltModule } from "@shoal/model";
import { expect, it } from "vitest";
import { REGISTERED_MODULES } from "./registered-modules.js";

it("no module that can be enabled is said to be missing", () => {
  expect(REGISTERED_MODULES.map(({ name }) => name).filter(isUnbuiltModule)).toEqual([]);
});
