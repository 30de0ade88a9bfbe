import { setTimeout } from "node:timers/promises";
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
import { readFollowedFile } from "./read-followed-file.js";

/** A file whose last line has no end is looked at again after so long, and so often at most until it has not changed. */
const QUIET_MS = 1_000;
const LOOKS_MAX = 5;

/**
 * The keys of the file that the settings name, followed; none when they name none. Fails with `invalid` when it cannot be
 * used at the start.
 */
export async function followApiKeys(
  configuration: ApiKeyConfiguration | undefined,
  logger: Logger,
  scope: ResourceScope,
  { lookMs, quietMs = QUIET_MS }: { readonly lookMs?: number; readonly quietMs?: number } = {},
): Promise<readonly ApiKeySource[]> {
  const file = configuration?.file;
  if (configuration === undefined || file === undefined) return [];
  const read = async () => ({ keys: await readKeys(configuration, file, logger, quietMs) });
  const followed = await followFiles({ what: "API keys", paths: [file], read, logger, lookMs }, scope);
  let table = ApiKeyTable.of(followed.current().keys);
  scope.use(
    followed.onChange(({ keys }) => {
      table = ApiKeyTable.of(keys);
    }),
  );
  return [{ find: (digest) => table.find(digest), holds: (username) => table.holds(username) }];
}

async function readKeys(
  configuration: ApiKeyConfiguration,
  file: string,
  logger: Logger,
  quietMs: number,
): Promise<readonly AllowedApiKey[]> {
  const bytes = await readWhole(file, quietMs);
  const keys = parseApiKeyFile(bytes.toString("utf8"), configuration, file, (message) => logger.warn({}, message));
  refuseSharedKeys([...configuration.allowed, ...keys], `'${file}' and the settings`);
  return keys;
}

/**
 * The file when nobody writes it any more, as far as can be told: half of a last line would let in who knows the beginning of a
 * key. Fails with `invalid` when it goes on changing.
 */
async function readWhole(file: string, quietMs: number): Promise<Buffer> {
  const variable = "AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE";
  let bytes = await readFollowedFile(variable, file);
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    if (bytes.length === 0 || bytes.at(-1) === LINE_END) return bytes;
    await setTimeout(quietMs);
    const before = bytes;
    bytes = await readFollowedFile(variable, file);
    if (bytes.equals(before)) return bytes;
  }
  throw new ShoalError(
    "invalid",
    `${variable} '${file}' is being written: the last line has no end, and it still changes; write another file and rename it`,
  );
}

const LINE_END = 0x0a;
