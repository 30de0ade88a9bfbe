import { AGGREGATE_GROUPS_DEFAULT, EXPLORE_ROWS_DEFAULT, ShoalError } from "@shoal/model";
import type { GraphQlLimits } from "../limits.js";

type CostLimits = Pick<
  GraphQlLimits,
  "graphqlRowsMax" | "graphqlCostMax" | "graphqlClassFieldsMax" | "getRowsDefault" | "getRowsMax"
>;

/** What a field that is answered by one call of the query service asks of it. */
export interface FieldCost {
  /** Rows that it reaches. */
  readonly rows: number;
  /** Classes of references that are answered below each row, at every depth. */
  readonly targets: number;
}

/** What says how many rows a class field may answer with; null and absent mean the same. */
export interface PageArguments {
  readonly limit?: number | null | undefined;
  readonly offset?: number | null | undefined;
}

/** Rows that a class field of Get reaches. None when it reaches more than one may: the query refuses it by itself. */
export function rowsOfGet({ limit, offset }: PageArguments, limits: CostLimits): number {
  const wanted = limit ?? limits.getRowsDefault;
  return allowedRows((wanted === -1 ? limits.getRowsDefault : wanted) + (offset ?? 0), limits);
}

export function rowsOfExplore({ limit, offset }: PageArguments, limits: CostLimits): number {
  return allowedRows((!limit || limit === -1 ? EXPLORE_ROWS_DEFAULT : limit) + (offset ?? 0), limits);
}

/** An aggregation reads no rows: its groups count, as many as it may have. */
export function rowsOfAggregate(hasGroups: boolean, limit: number | null | undefined, limits: CostLimits): number {
  if (!hasGroups) return 1;
  const wanted = limit ?? AGGREGATE_GROUPS_DEFAULT;
  return Math.max(0, Math.min(wanted === -1 ? AGGREGATE_GROUPS_DEFAULT : wanted, limits.getRowsMax));
}

/** Fails with `tooLarge` when a request has too many fields that are calls of their own: before they are compiled. */
export function checkClassFields(fields: number, { graphqlClassFieldsMax: max }: CostLimits): void {
  if (fields > max) refuse(`has ${fields} fields of Get, Aggregate and Explore`, max, "GRAPHQL_CLASS_FIELDS_MAX");
}

/** What all fields of a request ask together. */
export class RequestCost {
  rows = 0;
  #cost = 0;

  add({ rows, targets }: FieldCost): void {
    this.rows += rows;
    this.#cost += rows * (1 + targets);
  }

  /** Fails with `tooLarge`, naming the limit, when it is too much for one request. */
  check(limits: CostLimits): void {
    const { graphqlRowsMax, graphqlCostMax } = limits;
    if (this.rows > graphqlRowsMax) {
      refuse(`reaches ${this.rows} rows (offset plus limit of all its fields)`, graphqlRowsMax, "GRAPHQL_ROWS_MAX");
    }
    if (this.#cost > graphqlCostMax) {
      const what = "each row counts once, and once for each class of references below it";
      refuse(`costs ${this.#cost} (${what})`, graphqlCostMax, "GRAPHQL_COST_MAX");
    }
  }
}

function refuse(what: string, max: number, setting: string): never {
  throw new ShoalError("tooLarge", `the query ${what}, more than ${max} (${setting})`);
}

function allowedRows(rows: number, { getRowsMax }: CostLimits): number {
  return rows > 0 && rows <= getRowsMax ? rows : 0;
}
