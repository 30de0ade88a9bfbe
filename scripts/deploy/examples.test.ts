import { readdirSync } from "node:fs";
import { join } from "node:path";
import { configurationFileSource, internalTlsFiles, readConfiguration } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { root } from "../source-tree.js";

const FOLDER = join(root, "deploy", "examples");
const ROLES = ["coordinator", "gateway", "storage-node"];

async function read(name: string) {
  const warnings: string[] = [];
  const source = await configurationFileSource(join(FOLDER, name));
  return { configuration: readConfiguration([source], (warning) => warnings.push(warning)), warnings };
}

describe("deploy/examples", () => {
  it.each(readdirSync(FOLDER))("%s is read, without a warning", async (name) => {
    const { configuration, warnings } = await read(name);
    expect(warnings).toEqual([]);
    expect(configuration.host).toBe(/^(shoal|gateway)\.yaml$/.test(name) ? "0.0.0.0" : "127.0.0.1");
  });

  it("fit each other: names, addresses, certificates", async () => {
    const [coordinator, gateway, node] = await Promise.all(
      ROLES.map(async (role) => (await read(`${role}.yaml`)).configuration),
    );
    expect(gateway?.coordinatorAddresses).toEqual(node?.coordinatorAddresses);
    expect(gateway?.coordinatorAddresses).toContain(`${coordinator?.nodeName}:${coordinator?.internalPort}`);
    expect(node?.internalAdvertisedAddress).toBe(`${node?.nodeName}:${node?.internalPort}`);
    for (const one of [coordinator, gateway, node]) {
      expect(one && internalTlsFiles(one, ["0.0.0.0"])?.keyFile).toBe("/etc/shoal/key.pem");
    }
  });
});
