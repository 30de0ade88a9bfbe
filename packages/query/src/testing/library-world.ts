// Classes that refer to each other, what stands in them, and a plain loop that answers filters and references.

import {
  type ClassDefinition,
  type Json,
  type ObjectId,
  type ReferenceSelection,
  referenceTo,
  targetsOfReferences,
  type WhereFilter,
} from "@shoal/model";
import { plainMatches } from "@shoal/model/testing/plain-filter";
import type { ClassRecord } from "@shoal/rpc";
import type { SeededRandom } from "@shoal/seeded-random";
import type { ReferencedRow } from "../query-service.js";
import type { MemoryObject } from "./memory-object.js";
import { DIMENSIONS, record, uuid } from "./memory-world.js";

type Properties = NonNullable<ClassDefinition["properties"]>;

const LIBRARY: Readonly<Record<string, Properties>> = {
  Book: [
    { name: "title", dataType: ["text"] },
    { name: "pages", dataType: ["int"] },
    { name: "by", dataType: ["Author", "Club"] },
    { name: "like", dataType: ["Book"] },
  ],
  Author: [
    { name: "name", dataType: ["string"] },
    { name: "in", dataType: ["Club"] },
    { name: "wrote", dataType: ["Book"] },
  ],
  Club: [
    { name: "name", dataType: ["string"] },
    { name: "members", dataType: ["Author"] },
  ],
};

const NAMES = ["Ann", "Bo", "Cy"];

export function libraryRecords(): ClassRecord[] {
  return Object.entries(LIBRARY).map(([name, properties]) => {
    const plain = record(name);
    return { ...plain, definition: { ...plain.definition, properties } };
  });
}

/** Objects with few distinct values and many references: some of them doubled, some to nothing, some ids twice. */
export function library(random: SeededRandom, count: number): MemoryObject[] {
  const ids = Array.from({ length: count }, () => uuid(random));
  const dangling = [uuid(random), uuid(random)];
  const classes = Object.keys(LIBRARY);
  const objects = ids.map((id) => ({ id, className: random.pick(classes) }));
  for (let twin = 0; twin < count / 10; twin++) {
    const id = random.pick(ids);
    const className = classes.find((name) => !objects.some((one) => one.id === id && one.className === name));
    if (className !== undefined) objects.push({ id, className });
  }
  return objects.map(({ id, className }) => {
    const properties: Record<string, Json> = {};
    for (const { name, dataType } of LIBRARY[className] ?? []) {
      if (random.next() < 0.2) continue;
      const targets = () =>
        Array.from({ length: random.below(5) }, () => random.pick(random.next() < 0.1 ? dangling : ids));
      if (dataType[0] === "int") properties[name] = random.below(5);
      else if (/^[a-z]/.test(dataType[0] ?? "")) properties[name] = random.pick(NAMES);
      else properties[name] = targets().map((target) => referenceTo(target, "svc"));
    }
    const vector = Float32Array.from({ length: DIMENSIONS }, () => random.below(3) - 1 + 0.01);
    return { id, className, creationTimeUnix: 1, vector, properties };
  });
}

/** A filter for books over paths of up to three references. */
export function randomWhere(random: SeededRandom, depth = 0): WhereFilter {
  if (depth < 3 && random.next() < 0.5) {
    const operands = Array.from({ length: 1 + random.below(3) }, () => randomWhere(random, depth + 1));
    return { operator: random.pick(["And", "Or", "Not"] as const), operands };
  }
  const references = random.pick([
    [],
    ["by", "Author"],
    ["by", "Club"],
    ["like", "Book"],
    ["by", "Author", "in", "Club"],
    ["like", "Book", "by", "Author", "wrote", "Book"],
  ]);
  const isBook = references.length === 0 || references.at(-1) === "Book";
  if (isBook && random.next() < 0.5) {
    const operator = random.pick(["Equal", "NotEqual", "LessThan", "GreaterThanEqual"] as const);
    const value = { kind: "int", values: [random.below(5)] } as const;
    return { operator, path: [...references, "pages"], value };
  }
  const path = [...references, isBook ? "title" : "name"];
  return {
    operator: random.pick(["Equal", "NotEqual"] as const),
    path,
    value: { kind: isBook ? "text" : "string", values: [random.pick(NAMES)] },
  };
}

/** Whether an object satisfies a filter, by walking the references. */
export function satisfies(where: WhereFilter, object: MemoryObject, all: readonly MemoryObject[]): boolean {
  if ("operands" in where) {
    const each = (operand: WhereFilter) => satisfies(operand, object, all);
    if (where.operator === "Or") return where.operands.some(each);
    return where.operands.every(each) === (where.operator === "And");
  }
  const [property = "", className, ...path] = where.path;
  if (className === undefined) {
    const { operator, value } = where;
    const times = { creationTimeUnix: object.creationTimeUnix, lastUpdateTimeUnix: object.creationTimeUnix };
    const looked = { id: object.id, properties: object.properties ?? {}, ...times };
    return plainMatches(looked, { operator, property, value }, LIBRARY[object.className] ?? []);
  }
  return targetsOfReferences(object.properties?.[property]).some((id) => {
    const target = all.find((one) => one.id === id && one.className === className);
    return target !== undefined && satisfies({ ...where, path }, target, all);
  });
}

/** What a test compares of resolved references. */
export interface PlainTarget {
  readonly className: string;
  readonly id: ObjectId;
  readonly references: Readonly<Record<string, readonly PlainTarget[]>>;
}

/** The references of an object, by walking them. */
export function follow(
  object: MemoryObject,
  selections: readonly ReferenceSelection[],
  all: readonly MemoryObject[],
): PlainTarget["references"] {
  const found: Record<string, readonly PlainTarget[]> = {};
  for (const { property, targets } of selections) {
    const wanted = targets.map(({ className }) => className).sort();
    const ids = targetsOfReferences(object.properties?.[property]);
    const rows = targets.flatMap(({ className, references }) =>
      ids.flatMap((id) => {
        const twins = all.filter((one) => one.id === id);
        const holder = wanted.find((name) => twins.some((one) => one.className === name));
        const target = twins.find((one) => one.className === className && className === holder);
        return target === undefined ? [] : { className, id, references: follow(target, references, all) };
      }),
    );
    if (rows.length > 0) found[property] = rows;
  }
  return found;
}

export function plainTargets(references: ReadonlyMap<string, readonly ReferencedRow[]>): PlainTarget["references"] {
  return Object.fromEntries(
    [...references].map(([property, rows]) => [
      property,
      rows.map(({ id, object, references: inner }) => ({
        className: object.className,
        id,
        references: plainTargets(inner),
      })),
    ]),
  );
}
