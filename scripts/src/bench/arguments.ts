import { parseArgs } from "node:util";
import { ShoalError } from "@shoal/model";
import type { Target } from "./measure.js";
import type { QueryKind } from "./query-vectors.js";

export const USAGE = `npm run bench -- [row …] [options]

Runs rows of the table of targets (all but those of growth and H3-sweep when none is named) and prints what they cost the server.

  row              H1, H7, … with all that belongs to it, or one of its results: H1-c1, H7-784d, H8-get
  --target URL     a server that runs already, instead of starting one; its classes Word, Garment and Place must not exist
  --pid N[,N]      the processes of that server; without them neither CPU nor memory is measured
  --queries KIND   held-out (rows that are not loaded) or perturbed (loaded rows, moved), instead of the row's own
  --tokens         every request carries a token, and the server knows an issuer and an admin list; not with --target,
                   whose URL may carry a token: http://:TOKEN@host:8080
  --json FILE      writes the results as JSON
  --list           prints the rows
  --help           prints this`;

export interface BenchArguments {
  readonly rows: readonly string[];
  readonly target: Target | null;
  readonly queries: QueryKind | null;
  readonly tokens: boolean;
  readonly json: string | null;
  readonly list: boolean;
  readonly help: boolean;
}

/** Errors: `invalid` for an unknown option or a value that is none. */
export function parseArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parse(args);
  if (values.pid !== undefined && values.target === undefined) {
    throw new ShoalError("invalid", "--pid needs --target: the processes of a server started here are known");
  }
  if (values.tokens === true && values.target !== undefined) {
    throw new ShoalError("invalid", "--tokens is for servers started here; --target takes http://:TOKEN@host:8080");
  }
  const pids = values.pid === undefined ? null : values.pid.split(",").map(parsePid);
  return {
    rows: positionals,
    target: values.target === undefined ? null : { url: parseUrl(values.target), pids },
    queries: values.queries === undefined ? null : parseQueries(values.queries),
    tokens: values.tokens ?? false,
    json: values.json ?? null,
    list: values.list ?? false,
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        target: { type: "string" },
        pid: { type: "string" },
        queries: { type: "string" },
        tokens: { type: "boolean" },
        json: { type: "string" },
        list: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
  } catch (cause) {
    throw new ShoalError("invalid", cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function parsePid(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new ShoalError("invalid", `--pid: '${text}' is no process id`);
  return Number(text);
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") throw new ShoalError("invalid", `--target: '${text}' is no http:// address`);
  return url;
}

function parseQueries(text: string): QueryKind {
  if (text === "held-out" || text === "perturbed") return text;
  throw new ShoalError("invalid", `--queries: '${text}' is neither held-out nor perturbed`);
}
