/** Where the demo prints: a terminal, or anything else that takes text (a pipe, a log). */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Select Graphic Rendition (ECMA-48, 8.3.117): on and off. */
const STYLES = { bold: [1, 22], dim: [2, 22], cyan: [36, 39], green: [32, 39] } as const;
export type Style = keyof typeof STYLES;

/** Styled on a terminal, unless `NO_COLOR` is set (no-color.org); plain elsewhere. */
export class Terminal {
  readonly #styled: boolean;

  constructor(
    readonly output: Output,
    noColor: boolean,
  ) {
    this.#styled = output.isTTY === true && !noColor;
  }

  style(style: Style, text: string): string {
    if (!this.#styled) return text;
    const [on, off] = STYLES[style];
    return `\x1b[${on}m${text}\x1b[${off}m`;
  }

  line(text = ""): void {
    this.output.write(`${text}\n`);
  }
}
