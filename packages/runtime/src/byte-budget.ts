import type { HeldKind, RowBytes } from "./request-context.js";

export interface ByteBudgetOptions {
  readonly max: number;
  /** What is thrown instead of holding more. */
  readonly fullError: () => Error;
  /** Holds all of it, too, and may refuse it. */
  readonly parent?: RowBytes | undefined;
  /** What the parent counts them as, where `add` does not say it. */
  readonly kind?: HeldKind;
  /** Whether what is held alone may be larger than all may be. */
  readonly mayGoAlone?: boolean;
}

/** Bytes that are held: no more than a maximum, and what budgets above have room for. */
export class ByteBudget implements RowBytes {
  readonly #options: ByteBudgetOptions;
  #held = 0;
  #isClosed = false;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Fails as {@link ByteBudgetOptions.fullError} says where there is no room, or when it is closed. Giving back never fails. */
  add(bytes: number, kind?: HeldKind): void {
    const { parent, fullError } = this.#options;
    if (this.#isClosed && bytes <= 0) return;
    if (bytes > 0 && !this.#fits(bytes)) throw fullError();
    parent?.add(bytes, kind ?? this.#options.kind);
    this.#held += bytes;
  }

  /**
   * Nothing more is held, and all but `keptBytes` is given back: those are whoever's gets them, and the parent may refuse what
   * they are more than was held.
   */
  close(keptBytes = 0): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const more = keptBytes - this.#held;
    this.#held = keptBytes;
    if (more !== 0) this.#options.parent?.add(more, this.#options.kind);
  }

  #fits(bytes: number): boolean {
    const { max, mayGoAlone = false } = this.#options;
    return !this.#isClosed && (this.#held + bytes <= max || (mayGoAlone && this.#held === 0));
  }
}
