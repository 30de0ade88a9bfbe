import { BENCH_SETS, benchRows, ObjectTexts, type SetName } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { HttpResponse } from "../load-generator/http-response-parser.js";
import type { Workload } from "../load-generator/workload.js";

export interface ImportParameters {
  readonly set: SetName;
  readonly from: number;
  readonly count: number;
  readonly perBatch: number;
}

/** Rows of a set through the REST batch, built as they are sent: together they would take half a gigabyte. */
export async function prepare(url: URL, parameters: ImportParameters): Promise<Workload> {
  const { set, from, count, perBatch } = parameters;
  const objects = new ObjectTexts(set, await benchRows(set, from, count), from);
  const inBatch = (index: number) => Math.min(perBatch, count - index * perBatch);
  return {
    warmUpRequests: 0,
    requests: Math.ceil(count / perBatch),
    request(index) {
      const texts = Array.from({ length: inBatch(index) }, (_, at) => objects.text(index * perBatch + at));
      return httpRequest(url, "POST", "/v1/batch/objects", `{"objects":[${texts.join()}]}`);
    },
    fault: (index, response) => batchFault(response, inBatch(index), BENCH_SETS[set].className),
  };
}

/** Every object of the batch must be reported, without errors: `"result":{}`, or with a status of success. */
export function batchFault({ status, body }: HttpResponse, expected: number, className: string): string | undefined {
  if (status !== 200) return `batch: ${status} ${body.toString("utf8", 0, 300)}`;
  const error = body.indexOf('"errors":{');
  if (error >= 0) return `batch of ${className}: ${body.toString("utf8", error, error + 300)}`;
  const results = countOf(body, '"result":{');
  return results === expected ? undefined : `batch of ${expected}: ${results} results`;
}

function countOf(body: Buffer, text: string): number {
  let count = 0;
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + text.length)) count++;
  return count;
}
