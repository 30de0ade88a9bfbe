import type { ConfigurationOf } from "@shoal/coordinator";
import type { SchemaSnapshot } from "@shoal/rpc";
import { expect, test } from "vitest";
import { refuseLostData } from "./refuse-lost-data.js";

/** A class whose shards stand on `owners`, one each. */
function schemaOf(...owners: readonly string[]): SchemaSnapshot {
  const shards = owners.map((owner, at) => ({ name: `s${at}`, members: [owner] }));
  return {
    historyId: "h",
    version: 1,
    classes: [{ definition: { class: "Car" }, sharding: { shards } }],
  } as unknown as SchemaSnapshot;
}

test("a new folder may begin where other nodes have what it had, as far as that is known", () => {
  const schema = schemaOf("n1", "n1");
  const configured = (...inSync: readonly string[]) =>
    ({ inSync, eligible: [] }) as unknown as ReturnType<ConfigurationOf>;
  expect(() => refuseLostData("n1", "/data", schema, () => configured("n1/a", "n2/b"))).not.toThrow();
  const configurationOf: ConfigurationOf = (_, { name }) =>
    name === "s0" ? configured("n1/a") : configured("n1/a", "n2/b");
  expect(() => refuseLostData("n1", "/data", schema, configurationOf)).toThrow("node 'n1' has 1 shards");
});

test("a new folder is refused where shards are placed on the node, and only there", () => {
  expect(() => refuseLostData("n1", "/data", schemaOf())).not.toThrow();
  expect(() => refuseLostData("n1", "/data", schemaOf("n2", "n3"))).not.toThrow();
  expect(() => refuseLostData("n1", "/data", schemaOf("n1", "n2", "n1"))).toThrow(
    /'\/data' is a new folder, but node 'n1' has 2 shards/,
  );
});
