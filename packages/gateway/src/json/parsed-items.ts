import { ShoalError } from "@shoal/model";
import type { ItemGroup } from "./item-groups.js";
import type { ItemSink } from "./read-in-turns.js";

/** Collects what the items of a list are parsed to, or the first refusal of one. */
export class ParsedItems<Item> implements ItemSink {
  readonly #parse: (group: ItemGroup) => readonly Item[];
  readonly #itemsMax: number;
  #items: Item[] = [];
  #refusal: ShoalError | undefined;

  /** Beyond `itemsMax` nothing is kept: whoever counts the items refuses the list. */
  constructor(parse: (group: ItemGroup) => readonly Item[], itemsMax: number) {
    this.#parse = parse;
    this.#itemsMax = itemsMax;
  }

  take(group: ItemGroup): void {
    if (this.#refusal !== undefined) return;
    if (group.first > this.#itemsMax) {
      this.#items = [];
      return;
    }
    try {
      for (const item of this.#parse(group)) this.#items.push(item);
    } catch (thrown) {
      if (!(thrown instanceof ShoalError)) throw thrown;
      this.#refusal = thrown;
    }
  }

  /** The items in order. Fails as the first of them that was refused. */
  get items(): readonly Item[] {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#items;
  }
}
