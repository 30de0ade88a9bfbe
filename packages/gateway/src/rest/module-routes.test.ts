import type { EnabledModules, ModuleRoute } from "@shoal/module-api";
import { expect, it } from "vitest";
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
