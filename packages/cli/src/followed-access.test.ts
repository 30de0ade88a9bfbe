import { ShoalError } from "@shoal/model";
import { type AccessService, type AccessSnapshot, WatchedValue } from "@shoal/rpc";
import type { Logger } from "@shoal/service-runtime";
import { expect, it } from "vitest";
import { accessMemory, FollowedAccess } from "./followed-access.js";

function logged(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (_: object, message: string) => lines.push(message);
  return { lines, logger: { debug: write, info: write, warn: write, error: write } as unknown as Logger };
}

/** What a coordinator tells. */
class ToldAccess implements AccessService {
  readonly #told = new WatchedValue<AccessSnapshot | undefined>(undefined);

  replace(snapshot: AccessSnapshot): void {
    this.#told.set(snapshot);
  }

  current(): Promise<AccessSnapshot> {
    return Promise.reject(new ShoalError("unavailable", "nobody is asked here"));
  }

  change(): Promise<void> {
    return Promise.reject(new ShoalError("unavailable", "nobody is asked here"));
  }

  watchAccess(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#told.watch(listener);
  }
}

const at = (historyId: string, version: number, ...keys: readonly string[]): AccessSnapshot => ({
  historyId,
  version,
  entries: new Map(keys.map((key) => [key, 1])),
});

it("S-roles: what was known last counts until a coordinator tells, and an older state is told loudly", () => {
  const { logger, lines } = logged();
  const service = new ToldAccess();
  service.replace(at("h2", 5, "a"));
  const seen: number[] = [];
  using followed = new FollowedAccess(service, logger, () => 0, at("h1", 4));
  using _ = followed.watchAccess(({ version }) => seen.push(version));
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
  const service = new ToldAccess();
  service.replace(at("h2", 3));
  using followed = new FollowedAccess(service, logger, () => 0, at("h1", 4));
  expect(followed.snapshot?.version).toBe(3);
  expect(lines).toHaveLength(1);
});

it("S-roles: it is known for how long no coordinator has told of changes", () => {
  let now = 10;
  using followed = new FollowedAccess(new ToldAccess(), logged().logger, () => now);
  now = 15;
  expect(followed.lostMs).toBe(5);
  followed.noticeReachable(true);
  now = 100;
  expect(followed.lostMs).toBe(0);
  followed.noticeReachable(false);
  now = 130;
  followed.noticeReachable(false);
  expect(followed.lostMs).toBe(30);
});

it("S-roles: a snapshot survives its file", async () => {
  let text = "";
  const memory = accessMemory({
    load: async () => JSON.parse(text),
    store: async (value) => {
      text = JSON.stringify(value);
    },
  });
  const snapshot = at("h", 7, "role/a", "user/b");
  await memory.store(snapshot);
  expect(await memory.load()).toEqual(snapshot);
});
