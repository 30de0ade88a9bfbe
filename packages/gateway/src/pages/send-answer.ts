import type { Request, Response } from "express";
import type { HttpResponse } from "../http/http-response.js";
import { hasBody } from "../http/incoming-body.js";
import { discardRest, sendResponse } from "../http/send-response.js";

/** Sends an answer of the gateway's own shape. No page reads a body: a client that sends one still gets to its end. */
export function sendAnswer(request: Request, response: Response, answer: HttpResponse): void {
  const isUnread = !request.complete && hasBody(request);
  const isAsking = isUnread && request.headers.expect !== undefined;
  sendResponse(response, answer, isAsking || !response.shouldKeepAlive);
  if (isUnread && !isAsking) discardRest(request);
}
