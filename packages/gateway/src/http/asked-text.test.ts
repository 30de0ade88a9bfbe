import { describe, expect, it } from "vitest";
import { targetText } from "./asked-text.js";

describe("the target of a request in a log", () => {
  it.each([
    ["/v1/objects", "/v1/objects"],
    ["/v1/objects?limit=1&class=A", "/v1/objects?limit=1&class=A"],
    ["/v1/objects?access_token=x", "/v1/objects?access_token=[redacted]"],
    ["/v1/objects?a=1&access%5ftoken=x&b=2", "/v1/objects?a=1&access%5ftoken=[redacted]&b=2"],
    ["/v1?%zz=1&&=", "/v1?%zz=1&&="],
    ["/v1/a\u0085b", "/v1/a\\u0085b"],
  ])("%s", (target, shown) => {
    expect(targetText(target)).toBe(shown);
  });

  it("is bounded", () => {
    expect(targetText(`/${"a".repeat(100_000)}`).length).toBeLessThan(600);
    expect(targetText(`/v1?${"a=1&".repeat(100_000)}token=x`).length).toBeLessThan(600);
    expect(targetText(`/v1?${"x".repeat(2_000)}&token=secretvalue`)).not.toContain("secretvalue");
  });
});
