import { ExactSum } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import type { CachedColumn } from "../cached/cached-column.js";
import { Figures, type NumberFigures } from "./figures.js";

interface BlockFigures extends NumberFigures {
  readonly version: number;
}

/** Figures of the blocks that did not change since, as long as their column is in memory. */
const KNOWN = new WeakMap<CachedColumn, (BlockFigures | undefined)[]>();

/** A value, and the look at a block whose figures are known. */
const VALUE_STEPS = 4;
const BLOCK_STEPS = 40;

/** Count, sum and bounds of all values of a column: only blocks that have changed are read. */
export function* columnFigures(column: CachedColumn, yielder: Yielder): Work<NumberFigures> {
  let known = KNOWN.get(column);
  if (known === undefined) {
    known = [];
    KNOWN.set(column, known);
  }
  const sum = new ExactSum();
  let count = 0;
  let minimum: number | undefined;
  let maximum: number | undefined;
  for (let block = 0; block < column.blockCount; block++) {
    let figures = known[block];
    if (figures === undefined || figures.version !== column.blockVersion(block)) {
      figures = figuresOf(column, block);
      known[block] = figures;
      yielder.count(figures.count * VALUE_STEPS);
    }
    count += figures.count;
    sum.addAll(figures.sum);
    if (figures.minimum !== undefined) minimum = Math.min(figures.minimum, minimum ?? figures.minimum);
    if (figures.maximum !== undefined) maximum = Math.max(figures.maximum, maximum ?? figures.maximum);
    yielder.count(BLOCK_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  return { count, sum: sum.parts(), minimum, maximum };
}

function figuresOf(column: CachedColumn, block: number): BlockFigures {
  const figures = new Figures();
  column.eachOfBlock(block, (_, value) => figures.add(value));
  return { version: column.blockVersion(block), ...figures.all() };
}
