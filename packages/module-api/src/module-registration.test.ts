import { expect, it } from "vitest";
import { chooseModules, type ModuleRegistration, type ModuleSettings } from "./module-registration.js";

const registered = ["one", "two", "needy"].map(
  (name): ModuleRegistration => ({
    name,
    isVectorizer: name === "one",
    lacks: () => (name === "needy" ? "required variable X is not set" : undefined),
    create: () => {
      throw new Error("nothing is created here");
    },
  }),
);

function chosen(enableModules: readonly string[] | undefined, told: string[] = []): readonly string[] {
  const settings = { enableModules, defaultVectorizerModule: "none" } as ModuleSettings;
  return chooseModules(registered, settings, (_, { name }) => told.push(String(name))).map(({ name }) => name);
}

it("enables all that have what they need where nothing is said, those that are named, or none", () => {
  expect(chosen(undefined)).toEqual(["one", "two"]);
  expect(chosen(["two"])).toEqual(["two"]);
  expect(chosen([])).toEqual([]);
  expect(() => chosen(["needy"])).toThrow("module 'needy': required variable X is not set");
});

it("tells of names that no module has", () => {
  const told: string[] = [];
  expect(chosen(["two", "three"], told)).toEqual(["two"]);
  expect(told).toEqual(["three"]);
});
