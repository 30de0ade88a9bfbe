import { describe, expect, it } from "vitest";
import { GroupCommit } from "./group-commit.js";

/** Commits that end when the test says so. */
function controlled(limits = { waitingWritesMax: 100, waitingBytesMax: 1000 }) {
  const commits: { items: string[]; sync: boolean; end: (error?: Error) => void }[] = [];
  const group = new GroupCommit<string[]>(
    {
      startBatch: () => [],
      commit: (items, sync) =>
        new Promise<void>((resolve, reject) => {
          commits.push({ items, sync, end: (error) => (error ? reject(error) : resolve()) });
        }),
    },
    limits,
  );
  const write = (item: string, bytes = 1, sync = true) =>
    group.write(
      (batch) => {
        batch.push(item);
        return undefined;
      },
      bytes,
      sync,
    );
  return { group, commits, write };
}

const iteration = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("GroupCommit", () => {
  it("merges what comes while a commit runs, in the order of the calls, and syncs when one asks for it", async () => {
    const { commits, write } = controlled();
    const first = write("a", 1, false);
    await iteration();
    const rest = [write("b", 1, false), write("c", 1, true), write("d", 1, false)];
    await iteration();
    expect(commits.map(({ items, sync }) => ({ items, sync }))).toEqual([{ items: ["a"], sync: false }]);
    commits[0]?.end();
    await first;
    await iteration();
    expect(commits[1]).toMatchObject({ items: ["b", "c", "d"], sync: true });
    commits[1]?.end();
    await Promise.all(rest);
  });

  it("puts a long batch together in steps, before what came behind it, and none of it into another commit", async () => {
    const { group, commits, write } = controlled();
    let steps = 0;
    const long = (name: string) =>
      group.write(
        function* (batch) {
          for (let at = 0; at < 5; at++) {
            batch.push(`${name}${at}`);
            steps += 1;
            yield;
          }
        },
        1,
        true,
      );
    const all = [write("a"), long("b"), write("c"), long("d")];
    await iteration();
    expect(steps).toBeLessThan(10);
    expect(commits).toEqual([]);
    all.push(write("e"));
    while (commits.length === 0) await iteration();
    commits[0]?.end();
    await Promise.all(all.slice(0, 4));
    await iteration();
    commits[1]?.end();
    await Promise.all(all);
    const numbered = (name: string) => Array.from({ length: 5 }, (_, at) => `${name}${at}`);
    expect(commits.map(({ items }) => items)).toEqual([["a", ...numbered("b"), "c", ...numbered("d")], ["e"]]);
    await group.drained();
  });

  it("fails the callers of a batch that cannot be put together, and goes on", async () => {
    const { group, commits, write } = controlled();
    const failing = group.write(
      function* () {
        yield;
        throw new Error("closed");
      },
      1,
      true,
    );
    await expect(failing).rejects.toThrow("closed");
    const next = write("a");
    await iteration();
    commits[0]?.end();
    await next;
  });

  it("gives the failure of a commit to all its callers and to nobody else", async () => {
    const { commits, write } = controlled();
    const first = write("a");
    await iteration();
    const failing = [write("b"), write("c")].map((one) => expect(one).rejects.toThrow("disk"));
    commits[0]?.end();
    await first;
    await iteration();
    const last = write("d");
    commits[1]?.end(new Error("disk"));
    await Promise.all(failing);
    await iteration();
    commits[2]?.end();
    await last;
  });

  it("refuses what is over its limits, but never a batch that waits alone", async () => {
    const { commits, write } = controlled({ waitingWritesMax: 3, waitingBytesMax: 100 });
    const first = write("a", 5000);
    await iteration();
    const second = write("b", 5000);
    expect(() => write("c", 1)).toThrow(/wait for the disk/);
    commits[0]?.end();
    await first;
    await iteration();
    const more = [write("d"), write("e"), write("f")];
    expect(() => write("g")).toThrow(expect.objectContaining({ code: "overloaded", retryAfterSeconds: 1 }));
    commits[1]?.end();
    await second;
    await iteration();
    expect(commits[2]?.items).toEqual(["d", "e", "f"]);
    commits[2]?.end();
    await Promise.all(more);
  });
});
