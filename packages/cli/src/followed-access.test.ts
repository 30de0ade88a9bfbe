import { ShoalError } from "@shoal/model";
import { type AccessService, type AccessSnapshot, WatchedValue } from "@shoal/rpc";
import type { Logger } from "@shoal/service-runtime";
import { expect, it } from "vitest";
import { FollowedAccess } from "./followed-access.js";
import { entriesMemory } from "./json-file-memory.js";

function logged(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (_: object, message: string) => lines.push(message);
  return { lines, logger: { debug: write, info: write, warn: write, error: write } as unknown as Logger };
}

/** What a coordinator tells. */
class ReportedAccess implements AccessService {
  readonly #reported = new WatchedValue<AccessSnapshot | undefined>(undefined);

  replace(snapshot: AccessSnapshot): void {
    this.#reported.set(snapshot);
  }

  /** Whether the store answers. */
  isThere = false;
  asked = 0;

  async current(): Promise<AccessSnapshot> {
    this.asked++;
    await Promise.resolve();
    if (!this.isThere || this.#reported.known === undefined)
      throw new ShoalError("unavailable", "nobody is asked here");
    return this.#reported.known;
  }

  change(): Promise<void> {
    return Promise.reject(new ShoalError("unavailable", "nobody is asked here"));
  }

  watch(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#reported.watch(listener);
  }
}

const at = (historyId: string, version: number, ...keys: readonly string[]): AccessSnapshot => ({
  historyId,
  version,
  entries: new Map(keys.map((key) => [key, 1])),
});

it("S-roles: what was known last counts until a coordinator tells, and an older state is told loudly", () => {
  const { logger, lines } = logged();
  const service = new ReportedAccess();
  service.replace(at("h2", 5, "a"));
  const seen: number[] = [];
  using followed = new FollowedAccess(service, logger, () => 0, at("h1", 4));
  using _ = followed.watch(({ version }) => seen.push(version));
  service.replace(at("h2", 6));
  service.replace(at("h3", 6));
  expect(lines).toEqual([]);
  service.replace(at("h4", 2, "a"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("roles and users are older than those that were known");
  expect(seen).toEqual([5, 6, 6, 2]);
});

it("S-roles: a remembered state that is newer than what is told counts as known, too", () => {
  const { logger, lines } = logged();
  const service = new ReportedAccess();
  service.replace(at("h2", 3));
  using followed = new FollowedAccess(service, logger, () => 0, at("h1", 4));
  expect(followed.snapshot?.version).toBe(3);
  expect(lines).toHaveLength(1);
});

it("S-roles: what is known is as old as the last question that the store answered, whatever a stream says", async () => {
  let now = 10;
  const service = new ReportedAccess();
  using followed = new FollowedAccess(service, logged().logger, () => now);
  now = 15;
  expect(followed.ageMs).toBe(5);
  service.replace(at("h", 1));
  expect(followed.ageMs).toBe(5);
  await followed.confirm(1_000);
  expect(followed.ageMs).toBe(5);
  service.isThere = true;
  const asked = followed.confirm(1_000);
  now = 35;
  await asked;
  expect(followed.ageMs).toBe(20);
  await followed.current({ deadline: 100 });
  expect(followed.ageMs).toBe(0);
  now = 5;
  expect(followed.ageMs).toBe(30);
});

it("S-roles: the store is asked once at a time", async () => {
  const service = new ReportedAccess();
  using followed = new FollowedAccess(service, logged().logger, () => 0);
  await Promise.all([followed.confirm(1_000), followed.confirm(1_000), followed.confirm(1_000)]);
  expect(service.asked).toBe(1);
  await followed.confirm(1_000);
  expect(service.asked).toBe(2);
});

it("S-roles: a snapshot survives its file", async () => {
  let text = "";
  const memory = entriesMemory({
    load: async () => JSON.parse(text),
    store: async (value) => {
      text = JSON.stringify(value);
    },
  });
  const snapshot = at("h", 7, "role/a", "user/b");
  await memory.store(snapshot);
  expect(await memory.load()).toEqual(snapshot);
});
