import { type ApiKeySource, ApiKeyTable } from "@shoal/gateway";
import {
  type AllowedApiKey,
  type ApiKeyConfiguration,
  type Logger,
  parseApiKeyFile,
  type ResourceScope,
  refuseSharedKeys,
} from "@shoal/service-runtime";
import { followFiles } from "./followed-files.js";
import { readFollowedFile } from "./read-followed-file.js";

/**
 * The keys of the file that the settings name, followed; none when they name none. Fails with `invalid` when it cannot be
 * used at the start.
 */
export async function followApiKeys(
  configuration: ApiKeyConfiguration | undefined,
  logger: Logger,
  scope: ResourceScope,
  lookMs?: number,
): Promise<readonly ApiKeySource[]> {
  const file = configuration?.file;
  if (configuration === undefined || file === undefined) return [];
  const read = async () => ({ keys: await readKeys(configuration, file) });
  const followed = await followFiles({ what: "API keys", paths: [file], read, logger, lookMs }, scope);
  let table = ApiKeyTable.of(followed.current().keys);
  scope.use(
    followed.onChange(({ keys }) => {
      table = ApiKeyTable.of(keys);
    }),
  );
  return [{ find: (digest) => table.find(digest), holds: (username) => table.holds(username) }];
}

async function readKeys(configuration: ApiKeyConfiguration, file: string): Promise<readonly AllowedApiKey[]> {
  const bytes = await readFollowedFile("AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE", file);
  const keys = parseApiKeyFile(bytes.toString("utf8"), configuration, file);
  refuseSharedKeys([...configuration.allowed, ...keys], `'${file}' and the settings`);
  return keys;
}
