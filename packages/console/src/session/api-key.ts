const KEY = "shoal.console.api-key";

/** What an Authorization header can carry. */
const SENDABLE = /^[!-~]+$/;

/** The key of this tab; undefined when there is none. */
export function keptApiKey(storage: Storage): string | undefined {
  return storage.getItem(KEY) ?? undefined;
}

/** Keeps it as long as the tab is open; undefined forgets it. */
export function keepApiKey(storage: Storage, key: string | undefined): void {
  if (key === undefined) storage.removeItem(KEY);
  else storage.setItem(KEY, key);
}

/** Whether the server takes a key, or answers without one; undefined when it cannot be reached. */
export async function isTaken(key?: string): Promise<boolean | undefined> {
  if (key !== undefined && !SENDABLE.test(key)) return false;
  const headers: HeadersInit = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return fetch("/v1/meta", { cache: "no-store", headers }).then(
    ({ status }) => (status === 401 ? false : status === 200 ? true : undefined),
    () => undefined,
  );
}
