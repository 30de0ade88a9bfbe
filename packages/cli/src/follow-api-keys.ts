import { stat } from "node:fs/promises";
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
import { followFiles, LOOK_MS, readFollowedFile } from "./followed-files.js";

/** At the start: the age of a file that is read once, and the time between two readings of another one. */
const START_QUIET_MS = 1_000;
const VARIABLE = "AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE";
/** Pairs of readings before the log says that a file goes on changing. */
const LOOKS_MAX = 5;

interface FollowingTimes {
  readonly lookMs?: number;
  /** Between two readings that must be the same. */
  readonly quietMs?: number;
  readonly startQuietMs?: number;
}

/**
 * The keys of the file that the settings name, followed; none when they name none. Fails with `invalid` when it cannot be
 * used at the start.
 */
export async function followApiKeys(
  configuration: ApiKeyConfiguration | undefined,
  logger: Logger,
  scope: ResourceScope,
  { lookMs = LOOK_MS, quietMs = lookMs, startQuietMs = START_QUIET_MS }: FollowingTimes = {},
): Promise<readonly ApiKeySource[]> {
  const file = configuration?.file;
  if (configuration === undefined || file === undefined) return [];
  let isStart = true;
  const read = async (signal: AbortSignal) => {
    const bytes = isStart
      ? ((await readOld(file, startQuietMs)) ?? (await readWhole(file, startQuietMs, signal)))
      : await readWhole(file, quietMs, signal);
    isStart = false;
    return { keys: keysOf(bytes, configuration, file, logger) };
  };
  const followed = await followFiles({ what: "API keys", paths: [file], read, logger, lookMs }, scope);
  let table = ApiKeyTable.of(followed.current().keys);
  scope.use(
    followed.onChange(({ keys }) => {
      table = ApiKeyTable.of(keys);
    }),
  );
  return [{ find: (digest) => table.find(digest), holds: (username) => table.holds(username) }];
}

function keysOf(
  bytes: Buffer,
  configuration: ApiKeyConfiguration,
  file: string,
  logger: Logger,
): readonly AllowedApiKey[] {
  const keys = parseApiKeyFile(bytes.toString("utf8"), configuration, file, (message) => logger.warn({}, message));
  refuseSharedKeys([...configuration.allowed, ...keys], `'${file}' and the settings`);
  return keys;
}

/** The file when it was last written before the time that `quietMs` says; undefined when it is younger. A start need not wait for it. */
async function readOld(file: string, quietMs: number): Promise<Buffer | undefined> {
  const bytes = await readFollowedFile(VARIABLE, file);
  const { mtimeMs } = await stat(file);
  const ageMs = Date.now() - mtimeMs;
  return ageMs >= quietMs ? bytes : undefined;
}

/**
 * The file when nobody writes it any more, as far as can be told: two readings in a row, `quietMs` apart, are the same. Half of a
 * list would lock out who comes later in it, and half of a line let in who knows the beginning of a key. Fails with `invalid` when
 * it goes on changing.
 */
async function readWhole(file: string, quietMs: number, signal: AbortSignal): Promise<Buffer> {
  let bytes = await readFollowedFile(VARIABLE, file);
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    await setTimeout(quietMs, undefined, { signal });
    const before = bytes;
    bytes = await readFollowedFile(VARIABLE, file);
    if (bytes.equals(before)) return bytes;
  }
  throw new ShoalError(
    "invalid",
    `${VARIABLE} '${file}' is being written: it still changes; write another file and rename it`,
  );
}
