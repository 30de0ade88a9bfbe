import { ShoalError } from "@shoal/model";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  parse,
  validate,
} from "graphql";
import { type ErrorItem, errorItem } from "../graphql-response.js";
import { checkDocument } from "../guards/check-document.js";
import { checkText } from "../guards/check-text.js";
import { checkVariables } from "../guards/check-variables.js";
import type { CompileParts } from "../plan/compile-fields.js";
import { VALIDATION_ERRORS_MAX, VALIDATION_RULES } from "../rules/validation-rules.js";
import type { GraphQlRequest } from "./request-body.js";
import { syntaxErrorItem } from "./syntax-error.js";

/** A document that is valid for the schema, and its operation. */
export interface ReadDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationCount: number;
  readonly fragments: { [name: string]: FragmentDefinitionNode };
}

type ReadOutcome = ReadDocument | { readonly errors: readonly ErrorItem[] };

/** Checks, parses and validates a request up to the point where it could be executed. Never throws on bad input. */
export function readDocument(request: GraphQlRequest, options: CompileParts): ReadOutcome {
  let document: DocumentNode;
  let hasCycle: boolean;
  try {
    checkVariables(request.variables, options.limits);
    if (checkText(request.query, options.limits) === 0) return refused("Must provide an operation.");
    document = parse(request.query);
    hasCycle = checkDocument(document, options.limits).hasCycle;
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return { errors: [syntaxErrorItem(thrown, request.query, options.wire)] };
    return refused(ShoalError.from(thrown).message);
  }
  const rules = hasCycle ? [NoFragmentCyclesRule] : VALIDATION_RULES;
  const errors = validate(options.schema, document, rules, { maxErrors: VALIDATION_ERRORS_MAX });
  if (errors.length > 0) return { errors: errors.map(errorItem) };
  return operationOf(document, request.operationName);
}

function operationOf(document: DocumentNode, operationName: string | undefined): ReadOutcome {
  const operations: OperationDefinitionNode[] = [];
  const fragments: { [name: string]: FragmentDefinitionNode } = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const named = operations.filter((operation) => operation.name?.value === operationName);
  const operation = operationName === undefined ? operations[0] : named[0];
  if (operationName === undefined && operations.length > 1) {
    return refused("Must provide operation name if query contains multiple operations.");
  }
  if (operation === undefined) {
    return refused(
      operationName === undefined ? "Must provide an operation." : `Unknown operation named "${operationName}".`,
    );
  }
  if (operation.operation !== "query") {
    const message = `Schema is not configured for ${operation.operation}s`;
    return { errors: [errorItem(new GraphQLError(message, { nodes: operation }))] };
  }
  return { document, operation, operationCount: operations.length, fragments };
}

function refused(message: string): ReadOutcome {
  return { errors: [{ locations: [], message, path: null }] };
}
