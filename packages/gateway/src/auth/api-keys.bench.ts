import { digestOfKey, silentLogger } from "@shoal/service-runtime";
import { bench, describe } from "vitest";
import { createAccessControl } from "./create-access-control.js";

// What a key costs a request: one of 10,000 that is good, and one that is not. At most 2 µs.
const keys = Array.from({ length: 10_000 }, (_, at) => `key-${at}-0123456789abcdef0123456789abcdef`);
const access = createAccessControl(
  {
    authentication: {
      anonymousAccess: false,
      apiKeys: {
        allowed: keys.map((key, at) => ({ digest: digestOfKey(key), username: `user-${at % 10}` })),
        file: undefined,
        soleUser: undefined,
        besideIssuer: false,
      },
      oidc: undefined,
    },
    authorization: undefined,
  },
  { clock: { now: () => Date.now() }, logger: silentLogger },
);
let next = 0;
const identify = (token: string) => access.identify({ authorization: `Bearer ${token}`, queryString: "" });

describe("an API key", () => {
  bench("that is good", () => {
    identify(keys[next++ % keys.length] ?? "");
  });
  bench("that is not", () => {
    try {
      identify(`wrong-${next++}`);
    } catch {
      return;
    }
    throw new Error("accepted");
  });
});
