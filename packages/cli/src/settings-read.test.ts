import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PLAIN_SETTINGS, readersOf, SERVICE_COMMANDS, type ServiceCommand, type Setting } from "@shoal/service-runtime";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, "..", "..");

const ENTRIES: Readonly<Record<ServiceCommand, string>> = {
  serve: "serve.ts",
  gateway: "start-gateway.ts",
  "storage-node": "start-storage-node.ts",
  coordinator: "start-coordinator.ts",
  contextionary: "start-contextionary-service.ts",
};

/** Where settings are declared and made one value, and what every command does with them before its service starts. */
const READERS = /^service-runtime\/src\/(?:settings\/|setting|configuration|read-|fit-memory|unbuilt|former)/;
const OF_ALL: readonly string[] = ["logLevel", "logFormat", "debug", "configurationName"];

/**
 * Names that the code of a command has although it reads no such setting: plain words, members of the wire, and where a function serves several
 * commands. Whatever else is found is either read, or to be declared.
 */
const OTHER_MEANINGS: Readonly<Partial<Record<ServiceCommand, readonly string[]>>> = {
  serve: ["expectedStorageNodes", "internalTls", "replicationFactor"],
  gateway: ["nodeName", "expectedStorageNodes", "internalHost", "internalAdvertisedAddress", "replicationFactor"],
  "storage-node": [
    ...["host", "port", "origin", "corsAllowOrigin", "filterClausesMax", "filterValuesMax"],
    ...["answerBytesMax", "answersBytesMax", "connectionsMax", "expectedStorageNodes"],
  ],
  coordinator: [
    ...["host", "port", "origin", "corsAllowOrigin", "filterClausesMax", "filterValuesMax", "nodeName"],
    ...["answerBytesMax", "answersBytesMax", "connectionsMax", "coordinatorAddresses", "internalAdvertisedAddress"],
  ],
  contextionary: [
    ...["host", "port", "origin", "corsAllowOrigin", "filterClausesMax", "filterValuesMax", "nodeName"],
    ...["answerBytesMax", "answersBytesMax", "connectionsMax", "expectedStorageNodes"],
    ...["coordinatorAddresses", "internalAdvertisedAddress"],
  ],
};

/** The code that a command loads, without types and without what nobody uses of it. */
async function codeOf(command: ServiceCommand): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(here, ENTRIES[command])],
    absWorkingDir: packages,
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    logLevel: "error",
    plugins: [
      {
        name: "sources-of-ours",
        setup({ onResolve }) {
          onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
            if (kind === "entry-point") return undefined;
            const [, name = "", door = "index"] = /^@shoal\/([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
            const file = ["", "modules"]
              .map((folder) => join(packages, folder, name, "src", `${door}.ts`))
              .find(existsSync);
            return file === undefined || name === "" ? { path, external: true } : { path: file, sideEffects: false };
          });
        },
      },
    ],
  });
  const parts = (outputFiles[0]?.text ?? "").split(/^\/\/ (\S+\/src\/\S+\.ts)$/m);
  return parts.filter((_, at) => at % 2 === 0 && at > 0 && !READERS.test(parts[at - 1] ?? "")).join("\n");
}

describe.each(SERVICE_COMMANDS)("the settings that are declared as read by shoal %s", (command) => {
  it("are those whose names its code has", { timeout: 60_000 }, async () => {
    const words = new Set((await codeOf(command)).match(/\b[a-zA-Z]+\b/g));
    expect(words.size).toBeGreaterThan(1_000);
    const others = new Set(OTHER_MEANINGS[command]);
    for (const [name, setting] of Object.entries<Setting<unknown>>(PLAIN_SETTINGS)) {
      if (OF_ALL.includes(name)) continue;
      const isDeclared = readersOf(setting).includes(command);
      if (name === "memoryBudgetBytes" && command === "gateway") continue; // The defaults of its caches go by it.
      expect(words.has(name) && !others.has(name), `${setting.variable} on ${command}`).toBe(isDeclared);
    }
    for (const name of others) expect(words.has(name), name).toBe(true);
  });
});

it("every command that runs a service declares which one it is", () => {
  const text = readFileSync(join(here, "command.ts"), "utf8");
  for (const command of SERVICE_COMMANDS) expect(text).toContain(`runsService(\n  "${command}",`);
});
