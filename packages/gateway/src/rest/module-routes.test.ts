import { RequestWarnings } from "@shoal/model";
import type { EnabledModules, ModuleRoute } from "@shoal/module-api";
import { expect, it } from "vitest";
import * as z from "zod";
import type { HttpRequest } from "../http/http-request.js";
import { moduleRoutes } from "./module-routes.js";

it("keeps from modules what is costly to parse", async () => {
  const seen: number[] = [];
  const taught = {
    method: "POST",
    path: "/extensions",
    operation: { body: {} },
    handle: async ({ body }: { readonly body: Buffer }) => {
      seen.push(body.length);
      return { status: 200 };
    },
  } as unknown as ModuleRoute;
  const modules = { all: [{ name: "m", routes: [taught] }] } as unknown as EnabledModules;
  const [route] = moduleRoutes(modules);
  const send = async (body: string) => route?.handle({ params: [], body: Buffer.from(body) } as unknown as HttpRequest);
  await expect(send(`[${"{},".repeat(1_000_000)}{}]`)).rejects.toMatchObject({ code: "tooLarge" });
  await expect(send("[".repeat(2_000_000))).rejects.toMatchObject({ code: "malformed" });
  expect(await send("{}")).toMatchObject({ status: 200 });
  expect(seen).toEqual([2]);
});

it("U1: warns of members that the description of a module's route does not have", async () => {
  const taught = {
    method: "POST",
    path: "/extensions",
    operation: { body: { schema: z.object({ concept: z.string() }) } },
    handle: async () => ({ status: 200 }),
  } as unknown as ModuleRoute;
  const [route] = moduleRoutes({ all: [{ name: "m", routes: [taught] }] } as unknown as EnabledModules);
  const warnings = new RequestWarnings();
  const request = { params: [], body: Buffer.from('{"Concept":"a","conceptt":"b"}'), warnings };
  expect(await route?.handle(request as unknown as HttpRequest)).toMatchObject({ status: 200 });
  expect(warnings.worded).toEqual(["'conceptt' is unknown and was ignored, did you mean 'concept'?"]);
});
