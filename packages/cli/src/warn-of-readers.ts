import { stat } from "node:fs/promises";
import type { Logger } from "@shoal/service-runtime";

/** Read, and look into, for users other than owner and group. */
const OTHERS = 0o005;

/** Warns of a data folder that everybody on the machine may read. Fails when there is none. */
export async function warnOfReaders(path: string, logger: Logger): Promise<void> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & OTHERS) === 0) return;
  const advice = `every user of this machine may read the data: chmod o-rwx '${path}'`;
  logger.warn({ dataPath: path, mode: mode.toString(8) }, advice);
}
