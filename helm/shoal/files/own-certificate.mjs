// Copies the certificate of this pod out of those of all storage nodes, once, or now and then for as long as it runs: the
// container with the data has its own certificate alone, and reads it again when it changes.
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const { CERTIFICATE_OF = "", ALL_CERTIFICATES = "", OWN_CERTIFICATE = "", EVERY_SECONDS = "0" } = process.env;
/** The certificate last: with its key beside it, it can be used. */
const FILES = ["ca.crt", "tls.key", "tls.crt"];

process.once("SIGTERM", () => process.exit(0));

async function copy() {
  for (const file of FILES) {
    const bytes = await readFile(join(ALL_CERTIFICATES, CERTIFICATE_OF, file));
    const target = join(OWN_CERTIFICATE, file);
    const before = await readFile(target).catch(() => undefined);
    if (before?.equals(bytes)) continue;
    await writeFile(`${target}.new`, bytes, { mode: 0o400 });
    await rename(`${target}.new`, target);
    console.log(`${file} is copied`);
  }
}

const everyMs = Number(EVERY_SECONDS) * 1000;
do {
  try {
    await copy();
  } catch (error) {
    console.error(error.message);
    if (everyMs === 0) process.exit(1);
  }
  await sleep(everyMs);
} while (everyMs > 0);
