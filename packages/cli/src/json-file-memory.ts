import { open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Memory } from "@shoal/cluster";
import { ShoalError } from "@shoal/model";

/** What this process knew last, as JSON in a file of its own: written beside it, synced, renamed. */
export function jsonFileMemory<T>(folder: string, name: string): Memory<T> {
  const file = join(folder, name);
  return {
    async load() {
      let text: string;
      try {
        text = await readFile(file, "utf8");
      } catch (thrown) {
        if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
        throw thrown;
      }
      try {
        return JSON.parse(text) as T;
      } catch (thrown) {
        throw new ShoalError("dataLoss", `'${file}' is damaged: ${ShoalError.from(thrown).message}`, { cause: thrown });
      }
    },
    async store(value) {
      const fresh = `${file}.new`;
      await synced(fresh, "w", (handle) => handle.writeFile(`${JSON.stringify(value)}\n`));
      await rename(fresh, file);
      await synced(dirname(file), "r", async () => undefined);
    },
  };
}

async function synced(
  path: string,
  flags: string,
  work: (handle: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  await using handle = await open(path, flags);
  await work(handle);
  await handle.sync();
}
