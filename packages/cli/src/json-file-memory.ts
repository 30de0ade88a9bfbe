import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Memory } from "@shoal/cluster";
import { type Json, ShoalError } from "@shoal/model";

/** The file in a data folder with the schema that its process knew last. */
export const KNOWN_SCHEMA = "schema.json";
/** The same of roles and users. */
export const KNOWN_ACCESS = "access.json";

/** What this process knew last, as JSON in a file of its own. */
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
    store: (value) => storeFile(folder, name, `${JSON.stringify(value)}\n`),
  };
}

/** A snapshot as JSON: maps are none. */
type Kept<S> = Omit<S, "entries"> & { readonly entries: readonly (readonly [key: string, value: Json])[] };

/** Keeps snapshots that have a map in a memory of JSON. */
export function entriesMemory<S extends { readonly entries: ReadonlyMap<string, Json> }>(
  json: Memory<Kept<S>>,
): Memory<S> {
  return {
    async load() {
      const kept = await json.load();
      return kept && ({ ...kept, entries: new Map(kept.entries) } as unknown as S);
    },
    store: (snapshot) => json.store({ ...snapshot, entries: [...snapshot.entries] }),
  };
}

/** Puts a content in the place of a file's: written beside it, synced, renamed. */
export async function storeFile(folder: string, name: string, content: string | Uint8Array): Promise<void> {
  const file = join(folder, name);
  const fresh = `${file}.new`;
  await synced(fresh, "w", (handle) => handle.writeFile(content));
  await rename(fresh, file);
  await synced(folder, "r", async () => undefined);
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
