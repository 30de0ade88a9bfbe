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

function chosen(enableModules: readonly string[] | undefined, reported: string[] = []): readonly string[] {
  const settings = { enableModules, defaultVectorizerModule: "none" } as ModuleSettings;
  return chooseModules(registered, settings, (_, { name }) => reported.push(String(name))).map(({ name }) => name);
}

it("enables all that have what they need where nothing is said, those that are named, or none", () => {
  expect(chosen(undefined)).toEqual(["one", "two"]);
  expect(chosen(["two"])).toEqual(["two"]);
  expect(chosen([])).toEqual([]);
  expect(() => chosen(["needy"])).toThrow("module 'needy': required variable X is not set");
});

it("U1: warns of modules that only the reference has", () => {
  const reported: string[] = [];
  expect(chosen(["two", "text2vec-openai", "backup-s3"], reported)).toEqual(["two"]);
  expect(reported).toEqual(["text2vec-openai", "backup-s3"]);
});

it.each([
  ["tow", "tow", "two"],
  ["text2vec-opnai", "text2vec-opnai", "needy"],
  ["One", "One", "one"],
])("U1: refuses a name that no module has: %s", (name, shown, nearest) => {
  const message = `ENABLE_MODULES: there is no module "${shown}", the nearest is ${nearest}; it must be none, or some of one, two, needy`;
  if (nearest !== "needy") expect(() => chosen(["two", name])).toThrow(message);
  else expect(() => chosen(["two", name])).toThrow(`ENABLE_MODULES: there is no module "${shown}", the nearest is `);
});
