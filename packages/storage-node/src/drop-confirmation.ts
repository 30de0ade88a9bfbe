import { setTimeout as sleep } from "node:timers/promises";
import type { ClassDrop, NodeService, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

const CONFIRM_MS_MAX = 5_000;
const PAUSE_MS = 500;

export interface DropConfirmationOptions {
  readonly nodeName: string;
  readonly nodes: Pick<NodeService, "confirmDropped">;
  /**
   * Resolves when a restart of this process would begin with a schema at least as new as the one that is followed now.
   * Absent: it always does.
   */
  readonly kept?: () => Promise<void>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/**
 * Tells the coordinator which classes this node takes nothing more into, so that their deletion can be answered. It may do so
 * only when that holds over a restart, and when every write that was accepted has ended.
 */
export class DropConfirmation implements Disposable {
  readonly #options: DropConfirmationOptions;
  readonly #stopped = new AbortController();
  /**
   * Classes that are confirmed, or about to be, in the history that is followed. In another one, of a coordinator that has started
   * since, the store may be one that was put back, and know nothing of it.
   */
  #begun = new Set<string>();
  #historyId = "";

  constructor(options: DropConfirmationOptions) {
    this.#options = options;
  }

  /** `refused` resolves when no write into a class is under way any more, and none is accepted. */
  follow({ historyId, drops = [] }: SchemaSnapshot, refused: (classId: string) => Promise<void>): void {
    const { nodeName } = this.#options;
    if (historyId !== this.#historyId) this.#begun.clear();
    this.#historyId = historyId;
    const pending = drops.filter(({ classId, holders }) => holders.includes(nodeName) && !this.#begun.has(classId));
    this.#begun = new Set([...this.#begun].filter((classId) => drops.some((drop) => drop.classId === classId)));
    for (const drop of pending) {
      this.#begun.add(drop.classId);
      void this.#confirm(drop, refused);
    }
  }

  [Symbol.dispose](): void {
    this.#stopped.abort();
  }

  async #confirm({ classId }: ClassDrop, refused: (classId: string) => Promise<void>): Promise<void> {
    const { nodeName, nodes, kept, nowMs } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted && this.#begun.has(classId)) {
      try {
        await kept?.();
        await refused(classId);
        if (signal.aborted) return;
        const context: RequestContext = { deadline: nowMs() + CONFIRM_MS_MAX, signal };
        await nodes.confirmDropped(nodeName, [classId], context);
        return;
      } catch {
        // The coordinator names this node to those who wait for it.
        await sleep(PAUSE_MS, undefined, { ref: false });
      }
    }
  }
}
