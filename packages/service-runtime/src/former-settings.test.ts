import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { readConfigurationText } from "./configuration-text.js";
import { FORMER_SETTINGS } from "./former-settings.js";
import { refuseMisspelledVariables } from "./misspelled-variables.js";
import { environmentSource } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";
import { UNBUILT_FEATURES } from "./unbuilt-features.js";
import { UNBUILT_VARIABLES } from "./unbuilt-variables.js";

describe("settings of former versions", () => {
  it("are warned of by variable, and go on", () => {
    const all = Object.fromEntries(FORMER_SETTINGS.map(({ variable }) => [variable, "7"]));
    refuseMisspelledVariables(all);
    const lines: string[] = [];
    readConfiguration([environmentSource({ ...all, ROWS_IN_FLIGHT_MAX: "" })], (line) => lines.push(line));
    const set = FORMER_SETTINGS.filter(({ variable }) => variable !== "ROWS_IN_FLIGHT_MAX");
    expect(lines).toEqual(set.map(({ variable }) => `no longer a setting, it has no effect: ${variable}`));
  });

  it("are warned of by key and line of a file", () => {
    const text = "graphql:\n  rows_max: 200000\n  tokens_max: 7\nshard:\n  held_requests_max: 1\n";
    const values = readConfigurationText(text, "shoal.yaml");
    const lines: string[] = [];
    const read = readConfiguration([({ key }) => values.get(key)], (line) => lines.push(line));
    expect(read.graphqlRowsMax).toBe(200_000);
    expect(lines).toEqual([
      "no longer a setting, it has no effect: graphql.tokens_max (shoal.yaml line 3)",
      "no longer a setting, it has no effect: shard.held_requests_max (shoal.yaml line 5)",
    ]);
  });

  it("are no settings any more, and none is there twice", () => {
    const known = [...SETTINGS, ...UNBUILT_FEATURES, ...UNBUILT_VARIABLES].map(({ variable }) => variable);
    const former = FORMER_SETTINGS.map(({ variable }) => variable);
    expect(former.filter((variable) => known.includes(variable))).toEqual([]);
    expect(new Set(former).size).toBe(former.length);
    const keys = FORMER_SETTINGS.map(({ key }) => key);
    expect(keys.filter((key) => SETTINGS.some((setting) => setting.key === key))).toEqual([]);
  });
});
