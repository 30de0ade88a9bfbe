import { ShoalError } from "@shoal/model";
import type { NodeDirectory, NodeRecord, NodeService } from "@shoal/rpc";
import { silentLogger, systemClock } from "@shoal/service-runtime";
import { describe, expect, it, vi } from "vitest";
import { keepRegistered } from "./keep-registered.js";

const NODE: NodeRecord = { name: "n1", address: "h:1", shoalVersion: "1", gitHash: "" };

const CLAIM = { secret: "s", process: "p", replaces: false };

class FakeNodes implements Pick<NodeService, "register" | "watch"> {
  registered: NodeRecord[] = [];
  refusals = 0;
  isTaken = false;
  #listeners = new Set<(directory: NodeDirectory) => void>();

  async register(node: NodeRecord): Promise<void> {
    if (this.refusals-- > 0) throw new ShoalError("unavailable", "nobody there");
    if (this.isTaken) throw new ShoalError("conflict", "storage node 'n1' is alive at other:1");
    this.registered.push(node);
    this.tell([node]);
  }

  watch(listener: (directory: NodeDirectory) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  tell(nodes: readonly NodeRecord[]): void {
    for (const listener of this.#listeners) listener({ version: 1, expectedStorageNodes: 1, nodes });
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }
}

function start(nodes: FakeNodes) {
  return keepRegistered(nodes, NODE, CLAIM, { clock: systemClock, logger: silentLogger });
}

describe("keepRegistered", () => {
  it("tries until a coordinator answers, and says so meanwhile", async () => {
    const nodes = new FakeNodes();
    nodes.refusals = 2;
    using registration = start(nodes);
    expect(registration.fault).not.toBe("");
    await vi.waitFor(() => expect(registration.fault).toContain("nobody there"));
    await vi.waitFor(() => expect(registration.fault).toBe(""), 60_000);
    expect(nodes.registered).toEqual([NODE]);
  });

  it("S6: registers again when it is missing, and claims its name when another process stands there", async () => {
    const nodes = new FakeNodes();
    using registration = start(nodes);
    await vi.waitFor(() => expect(registration.fault).toBe(""));
    nodes.tell([]);
    await vi.waitFor(() => expect(nodes.registered).toHaveLength(2));
    nodes.tell([{ ...NODE, address: "other:1" }]);
    await vi.waitFor(() => expect(nodes.registered).toHaveLength(3), 10_000);
    expect(registration.fault).toBe("");
    nodes.isTaken = true;
    nodes.tell([{ ...NODE, address: "other:1" }]);
    await vi.waitFor(() => expect(registration.fault).toContain("is alive at other:1"), 10_000);
    nodes.tell([NODE]);
    expect(registration.fault).toBe("");
    expect(nodes.registered).toHaveLength(3);
  });

  it("is content with a list that has it as it is, while no coordinator can write", async () => {
    const nodes = new FakeNodes();
    nodes.refusals = Number.POSITIVE_INFINITY;
    using registration = start(nodes);
    await vi.waitFor(() => expect(registration.fault).toContain("nobody there"));
    nodes.tell([{ ...NODE, shoalVersion: "0" }]);
    expect(registration.fault).toContain("nobody there");
    nodes.tell([NODE]);
    expect(registration.fault).toBe("");
    // It stays so, whatever comes of the attempt that was under way.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(registration.fault).toBe("");
    nodes.refusals = 0;
    nodes.tell([]);
    await vi.waitFor(() => expect(nodes.registered).toEqual([NODE]));
  });

  it("ends when it is disposed of", async () => {
    const nodes = new FakeNodes();
    nodes.refusals = Number.POSITIVE_INFINITY;
    const registration = start(nodes);
    registration[Symbol.dispose]();
    expect(nodes.isWatched).toBe(false);
  });
});
