import { resolve } from "node:path";
import { SchemaReplica } from "@shoal/cluster";
import { createAccessControl } from "@shoal/gateway";
import type { ResourceScope, Service } from "@shoal/service-runtime";
import { assembleGateway } from "./assemble-gateway.js";
import { describeStorageMetrics, openInternalPort } from "./internal-port.js";
import { loadPages } from "./load-pages.js";
import { makeDataFolder } from "./make-data-folder.js";
import { openFilesLimit, planOpenFiles, shortage } from "./open-files.js";
import type { ServeOptions } from "./serve-options.js";
import { startStorage } from "./start-storage.js";

/** All services in one process: coordinator, storage node and gateway, joined by plain calls. */
export async function serve(options: ServeOptions, scope: ResourceScope): Promise<Service> {
  const { configuration, logger } = options;
  const dataPath = resolve(configuration.dataPath);
  await makeDataFolder(dataPath);
  const wanted = { shardsMax: configuration.schemaShardsMax, connectionsMax: configuration.connectionsMax };
  const openFiles = planOpenFiles(openFilesLimit(), wanted);
  let isReady = (): boolean => false;
  const metrics = await openInternalPort({ ...options, isReady: () => isReady() }, scope);
  const access = scope.use(createAccessControl(configuration, { ...options, metrics }));
  // What has to be read once is read before the stores take their files.
  const pages = await loadPages(access, configuration.origin, logger);
  const storage = await startStorage(options, dataPath, openFiles, scope);
  if (metrics !== undefined) describeStorageMetrics(metrics, storage.node);
  const view = scope.use(new SchemaReplica(storage.coordinator));
  const gateway = scope.use(assembleGateway(options, storage, view, { access, pages, metrics }));
  const { url } = await gateway.listen();
  gateway.markReady();
  isReady = () => gateway.isReady;
  logger.info({ url, dataPath, node: storage.node.name }, "serving");
  const short = shortage(storage.openFiles, wanted);
  if (short !== undefined) logger.info({}, short);
  options.onListening(url);
  return { drain: () => gateway.drain() };
}
