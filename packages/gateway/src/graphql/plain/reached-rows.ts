import type { ReferencedRow } from "@shoal/query";
import { eventLoop, type RequestContext } from "@shoal/runtime";
import type { HeldAnswer } from "../../answer-budget.js";
import { PlainRow, type TargetRows } from "./plain-row.js";

/** Work of one turn of the event loop, a millisecond or less, in bytes of stored properties that are parsed. */
const TURN_WORK = 64 * 1024;

/** What a row costs graphql-js beside its properties; and what these cost when they are parsed already. */
const ROW_WORK = 400;
const PARSED_SHARE = 1 / 16;

const EMPTY = new Uint8Array();

/** Hands the rows of one request to graphql-js in turns of the event loop, level by level. */
export class ReachedRows implements TargetRows {
  readonly #request: RequestContext;
  readonly #answer: HeldAnswer;
  #work = 0;
  /** The last turn that was asked for; undefined while the first one lasts. */
  #turn: Promise<void> | undefined;
  #isOver = false;

  constructor(request: RequestContext, answer: HeldAnswer) {
    this.#request = request;
    this.#answer = answer;
  }

  get isOver(): boolean {
    return this.#isOver || this.#answer.refusal !== undefined;
  }

  rows(rows: readonly PlainRow[]): readonly (PlainRow | null | Promise<PlainRow | null>)[] {
    return rows.map((row) => {
      const { propertiesJson = EMPTY, vector } = row.object ?? {};
      const turn = this.#turnFor(ROW_WORK + propertiesJson.length + (vector?.byteLength ?? 0));
      return turn === undefined ? row : turn.then(() => (this.isOver ? null : row));
    });
  }

  targets(targets: readonly ReferencedRow[]): readonly (PlainRow | null | Promise<PlainRow | null>)[] | null {
    if (this.isOver) return null;
    return targets.map((target) => {
      const bytes = target.object.propertiesJson.length;
      const turn = this.#turnFor(ROW_WORK + (PlainRow.isKnown(target) ? bytes * PARSED_SHARE : bytes));
      if (turn === undefined) return PlainRow.ofTarget(target);
      return turn.then(() => (this.isOver ? null : PlainRow.ofTarget(target)));
    });
  }

  #turnFor(work: number): Promise<void> | undefined {
    this.#work += work;
    if (this.#work < TURN_WORK) return this.#turn;
    this.#work = 0;
    this.#turn = eventLoop.next(this.#request.share).then(() => {
      if (this.#request.signal?.aborted) this.#isOver = true;
    });
    return this.#turn;
  }
}
