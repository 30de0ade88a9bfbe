import { compareUtf8, type Instant, nanosecondsOf, type PropertyPart } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { instantOf } from "../analysis/instant.js";
import type { IndexedProperty } from "../analysis/property-kind.js";
import { utcDate } from "../analysis/utc-date.js";
import { DocumentSet } from "../document-set.js";
import type { AggregateScope } from "./aggregate-source.js";
import { eachInstant } from "./date-values.js";
import { type Groups, NO_GROUP } from "./groups.js";
import { readValues } from "./read-values.js";

/** Earliest and latest of a date property, one part a group. */
export function* dateFigures(
  scope: AggregateScope,
  property: IndexedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const column = yield* scope.source.column(property);
  const local = (yield* scope.source.flags(property)).documents("local");
  const all = Array.from({ length: groups.size }, () => new Dates());
  yield* eachInstant(scope, column, column.present, (document, milliseconds, rest) => {
    const first = groups.first(document);
    if (first === NO_GROUP) return;
    scope.yielder.count(DATE_STEPS);
    const owner = local.has(document) ? document : undefined;
    all[first]?.add(milliseconds, rest, owner);
    const more = groups.more(document);
    if (more !== undefined) for (const group of more) all[group]?.add(milliseconds, rest, owner);
  });
  yield* readLocalTexts(scope, property, all);
  return all.map((dates) => dates.part());
}

const DATE_STEPS = 30;
/** An entry of a map with a list. */
const ASKING_BYTES = 120;

/** Only the texts of the winners are read. */
function* readLocalTexts(scope: AggregateScope, property: IndexedProperty, all: readonly Dates[]): Work<void> {
  const asking = new Map<number, End[]>();
  for (const end of all.flatMap((dates) => [dates.earliest, dates.latest])) {
    scope.held.add(ASKING_BYTES * end.locals.length);
    for (const document of end.locals) {
      const ends = asking.get(document);
      if (ends === undefined) asking.set(document, [end]);
      else ends.push(end);
    }
  }
  if (asking.size === 0) return;
  yield* readValues(scope, property.name, DocumentSet.of(asking.keys()), (document, values) => {
    for (const value of values) {
      const instant = instantOf(String(value));
      for (const end of asking.get(document) ?? []) end.offer(instant, String(value));
    }
  });
}

/** The earliest or the latest of some dates. */
class End {
  readonly #direction: 1 | -1;
  #milliseconds = 0;
  #rest = 0;
  #isEmpty = true;
  #hasUtc = false;
  #localText: string | undefined;
  /** Documents with that date in another form than that of `utcDate`. */
  locals: number[] = [];

  constructor(direction: 1 | -1) {
    this.#direction = direction;
  }

  /** `owner`: the document whose row has the text; undefined: the text follows from the instant. */
  add(milliseconds: number, rest: number, owner: number | undefined): void {
    const apart = this.#isEmpty ? -1 : (milliseconds - this.#milliseconds || rest - this.#rest) * this.#direction;
    if (apart > 0) return;
    if (apart < 0) {
      this.#isEmpty = false;
      this.#milliseconds = milliseconds;
      this.#rest = rest;
      this.#hasUtc = false;
      if (this.locals.length > 0) this.locals = [];
    }
    if (owner !== undefined) this.locals.push(owner);
    else this.#hasUtc = true;
  }

  /** A text of a local document: of equal instants the smaller one is answered. */
  offer(instant: Instant, text: string): void {
    if (instant.milliseconds !== this.#milliseconds || instant.rest !== this.#rest) return;
    if (this.#localText === undefined || compareUtf8(text, this.#localText) < 0) this.#localText = text;
  }

  /** Undefined when there was no date, or when all documents that had it are gone meanwhile. */
  get found(): { readonly instant: bigint; readonly text: string } | undefined {
    const instant = { milliseconds: this.#milliseconds, rest: this.#rest };
    const local = this.#localText;
    const utc = this.#hasUtc ? utcDate(instant) : local;
    if (utc === undefined) return undefined;
    const text = local !== undefined && compareUtf8(local, utc) < 0 ? local : utc;
    return { instant: nanosecondsOf(instant), text };
  }
}

class Dates {
  readonly earliest = new End(1);
  readonly latest = new End(-1);
  #count = 0;

  add(milliseconds: number, rest: number, owner: number | undefined): void {
    this.#count += 1;
    this.earliest.add(milliseconds, rest, owner);
    this.latest.add(milliseconds, rest, owner);
  }

  part(): PropertyPart {
    return { kind: "dates", count: this.#count, minimum: this.earliest.found, maximum: this.latest.found };
  }
}
