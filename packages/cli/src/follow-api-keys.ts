import { open } from "node:fs/promises";
import { type ApiKeySource, ApiKeyTable } from "@shoal/gateway";
import { ShoalError } from "@shoal/model";
import {
  type AllowedApiKey,
  type ApiKeyConfiguration,
  type Logger,
  parseApiKeyFile,
  type ResourceScope,
  refuseSharedKeys,
} from "@shoal/service-runtime";
import { followFiles } from "./followed-files.js";

/** Room for 10,000 keys of 100 characters with their users. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;

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
  const keys = parseApiKeyFile(await readText(file), configuration, file);
  refuseSharedKeys([...configuration.allowed, ...keys], `'${file}' and the settings`);
  return keys;
}

async function readText(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      if (size > FILE_BYTES_MAX) throw new ShoalError("invalid", `it has ${size} bytes, at most ${FILE_BYTES_MAX}`);
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const { message } = ShoalError.from(thrown);
    throw new ShoalError("invalid", `AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE '${file}' cannot be read: ${message}`, {
      cause: thrown,
    });
  }
}
