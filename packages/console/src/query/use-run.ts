import { useEffect, useRef, useState } from "preact/hooks";
import type { GatewayClient } from "../api/gateway-client.js";
import { ServerError } from "../api/server-error.js";
import type { SharedQuery } from "../route.js";
import { readGraphQlResponse } from "./graphql-response.js";
import { InputProblem, operationNameAt, requestText } from "./request-text.js";
import type { Outcome } from "./result-pane.js";

export interface RunOptions {
  readonly client: GatewayClient;
  /** The server has answered, or failed to. */
  readonly onDone: (query: SharedQuery, isGood: boolean) => void;
  /** What is wrong with the input, so that nothing is sent; undefined when something is. */
  readonly onMessage: (message: string | undefined) => void;
}

/** The query that is running, or what came of the last one. Leaving the page ends it. */
export function useRun({ client, onDone, onMessage }: RunOptions) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const running = useRef<AbortController | undefined>(undefined);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);

  /** Runs the operation in which the cursor is. Does nothing while another one is running. */
  const start = async (shown: SharedQuery, cursor: number): Promise<void> => {
    if (running.current !== undefined) return;
    const abort = new AbortController();
    running.current = abort;
    try {
      const operationName = operationNameAt(shown.query, cursor);
      const body = requestText(shown.query, shown.variables, operationName);
      onMessage(undefined);
      setOutcome({ kind: "running" });
      const { text, milliseconds } = await client.post("/v1/graphql", body, abort.signal);
      const read = readGraphQlResponse(text);
      setOutcome({ kind: "response", ...read, operationName, chars: text.length, milliseconds });
      onDone(shown, read.errors.length === 0);
    } catch (error) {
      if (error instanceof InputProblem) onMessage(error.message);
      else if (abort.signal.aborted) setOutcome({ kind: "none" });
      else {
        setOutcome({ kind: "failure", error: ServerError.from(error) });
        onDone(shown, false);
      }
    } finally {
      running.current = undefined;
    }
  };
  return { outcome, start, stop };
}
