import { ShoalError } from "@shoal/model";
import { expect, it } from "vitest";
import { OPEN_ACCESS } from "../auth/access.js";
import { signInOrigins } from "./console-page.js";

it("are those of the endpoints that the page asks, each once", () => {
  const openId = () => ({
    issuer: "https://accounts.example/realms/a",
    authorization_endpoint: "https://login.example/authorize",
    token_endpoint: "https://tokens.example:8443/token?x=1",
    revocation_endpoint: "https://tokens.example:8443/revoke",
  });
  expect(signInOrigins({ ...OPEN_ACCESS, openId })).toEqual([
    "https://accounts.example",
    "https://tokens.example:8443",
  ]);
});

it.each([
  "javascript:alert(1)",
  "*",
  "https://",
  "https://*",
  "https://*.example",
  "http://*:443/a",
  "https://a.example,*",
  "'unsafe-inline'",
  "data:text/html,x",
  7,
  null,
])("never let %j into a header", (issuer) => {
  expect(signInOrigins({ ...OPEN_ACCESS, openId: () => ({ issuer }) })).toEqual([]);
});

it.each([
  ["http://127.0.0.1:8081/realms/a", "http://127.0.0.1:8081"],
  ["https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443"],
  ["https://user:key@Identity_1.Example/a", "https://identity_1.example"],
])("of %s is %s", (issuer, origin) => {
  expect(signInOrigins({ ...OPEN_ACCESS, openId: () => ({ issuer }) })).toEqual([origin]);
});

it("are none when nobody signs in, or the issuer is not known yet", () => {
  expect(signInOrigins(OPEN_ACCESS)).toEqual([]);
  const openId = () => {
    throw new ShoalError("unavailable", "not yet");
  };
  expect(signInOrigins({ ...OPEN_ACCESS, openId })).toEqual([]);
});
