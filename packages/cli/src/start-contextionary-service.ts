import { join, resolve } from "node:path";
import { startContextionary } from "@shoal/gateway";
import type { Json } from "@shoal/model";
import { peerNames } from "@shoal/rpc";
import { listenForPeers } from "@shoal/rpc/grpc";
import type { ResourceScope, Service } from "@shoal/service-runtime";
import { CONTEXTIONARY_CACHE, CONTEXTIONARY_PORT, type ContextionaryConfiguration } from "./contextionary-settings.js";
import { FileExtensions } from "./file-extensions.js";
import { openInternalPort } from "./internal-port.js";
import { jsonFileMemory } from "./json-file-memory.js";
import { makeDataFolder } from "./make-data-folder.js";
import type { ProcessOptions } from "./process-options.js";
import { followInternalTls } from "./tls-files.js";

/** Whose certificates let ask for vectors, and teach. */
const CALLER = "gateway";

function refusalOf({ subjectaltname = "" }: { readonly subjectaltname?: string }): string | undefined {
  return peerNames({ subjectaltname }).includes(CALLER) ? undefined : "the contextionary is for gateways";
}

/** Word vectors for the gateways of a cluster (`CONTEXTIONARY_URL`); what users teach is kept in its data folder. */
export async function startContextionaryService(
  options: Omit<ProcessOptions, "configuration"> & { readonly configuration: ContextionaryConfiguration },
  scope: ResourceScope,
): Promise<Service> {
  const { clock, configuration, logger } = options;
  const { internalHost, internalPort = CONTEXTIONARY_PORT } = configuration;
  const dataPath = resolve(configuration.dataPath);
  await makeDataFolder(dataPath, logger);
  let notReady = "the word vectors are loaded";
  await openInternalPort({ ...options, notReady: () => notReady }, scope);
  const tls = await followInternalTls(configuration, "contextionary", logger, scope);
  const extensions = await FileExtensions.open(
    jsonFileMemory<Readonly<Record<string, Json>>>(dataPath, "extensions.json"),
  );
  const server = scope.use(
    await startContextionary(
      {
        settings: { moduleCachePath: configuration.moduleCachePath ?? join(dataPath, CONTEXTIONARY_CACHE) },
        extensions,
        nowMs: () => clock.now(),
        tell: (message, fields) => logger.info(fields, message),
      },
      (server) => listenForPeers(server, { host: internalHost, port: internalPort, tls }),
      tls && refusalOf,
    ),
  );
  notReady = "";
  const address = `${internalHost}:${server.port}`;
  logger.info({ address, tls: tls !== undefined }, "serving");
  options.onListening(address);
  return {
    drain: async () => {
      notReady = "it is draining";
    },
  };
}
