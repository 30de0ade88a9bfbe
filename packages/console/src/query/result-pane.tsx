import { useState } from "preact/hooks";
import type { ServerError } from "../api/server-error.js";
import { JsonView } from "../editor/json-view.js";
import type { GraphQlError } from "./graphql-response.js";

export type Outcome =
  | { readonly kind: "none" }
  | { readonly kind: "running" }
  | {
      readonly kind: "response";
      readonly text: string;
      readonly errors: readonly GraphQlError[];
      readonly operationName: string | undefined;
      readonly chars: number;
      readonly milliseconds: number;
    }
  | { readonly kind: "failure"; readonly error: ServerError };

export interface ResultPaneProps {
  readonly outcome: Outcome;
  /** Shows a place of the query. */
  readonly onPlace: (line: number, column: number) => void;
}

export function ResultPane({ outcome, onPlace }: ResultPaneProps) {
  if (outcome.kind === "failure") {
    const { error } = outcome;
    return (
      <>
        <ResultBar badge={error.status === 0 ? "failed" : String(error.status)} isBad />
        <div class="errors" role="alert">
          <h2>{error.title}</h2>
          <p>{error.message}</p>
        </div>
      </>
    );
  }
  if (outcome.kind !== "response") {
    return (
      <>
        <ResultBar />
        <p class="hint">
          {outcome.kind === "running" ? (
            "Running…"
          ) : (
            <>
              The answer comes here.
              <span class="keys">
                {" "}
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the query, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes it.
              </span>
            </>
          )}
        </p>
      </>
    );
  }
  const { errors, text, operationName, chars, milliseconds } = outcome;
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  const facts = [operationName, durationOf(milliseconds), sizeOf(chars)].filter((one) => one !== undefined);
  return (
    <>
      <ResultBar badge={errors.length === 0 ? "OK" : count} isBad={errors.length > 0} facts={facts} text={text} />
      {errors.length > 0 && (
        <ul class="errors" role="alert">
          {errors.map((error, at) => (
            <li key={`${at} ${error.message}`}>
              <p>{error.message}</p>
              <ErrorPlace error={error} onPlace={onPlace} />
            </li>
          ))}
        </ul>
      )}
      <div class="result-text">
        <JsonView label="Result" text={text} />
      </div>
    </>
  );
}

function ErrorPlace({ error, onPlace }: { readonly error: GraphQlError } & Pick<ResultPaneProps, "onPlace">) {
  const { path, place } = error;
  if (path === undefined && place === undefined) return null;
  return (
    <p class="place">
      {place !== undefined && (
        <button type="button" class="plain" onClick={() => onPlace(place.line, place.column)}>
          line {place.line}, column {place.column}
        </button>
      )}
      {path !== undefined && <span>{path}</span>}
    </p>
  );
}

interface ResultBarProps {
  readonly badge?: string;
  readonly isBad?: boolean;
  readonly facts?: readonly string[];
  /** What can be copied. */
  readonly text?: string;
}

function ResultBar({ badge, isBad = false, facts = [], text }: ResultBarProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    if (text === undefined) return;
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  };
  return (
    <div class="result-bar">
      <h2>Result</h2>
      <span role="status" class="facts">
        {badge !== undefined && <span class={isBad ? "badge bad" : "badge good"}>{badge}</span>}
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </span>
      <span class="gap" />
      {text !== undefined && (
        <button type="button" onClick={copy}>
          {isCopied ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  );
}

function durationOf(milliseconds: number): string {
  return milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds)} ms`;
}

function sizeOf(chars: number): string {
  if (chars < 1_000) return `${chars} B`;
  return chars < 1_000_000 ? `${(chars / 1_000).toFixed(1)} kB` : `${(chars / 1_000_000).toFixed(1)} MB`;
}
