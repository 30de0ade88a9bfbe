import { describe, expect, it } from "vitest";
import { Metrics } from "./metrics.js";

describe("Metrics", () => {
  it("writes what its readers say, each time again", async () => {
    const metrics = new Metrics();
    let count = 2;
    metrics.counter({ name: "x_total", help: "X.", labelNames: ["kind"] }, () => [
      { labels: { kind: "a" }, value: count },
    ]);
    metrics.gauge({ name: "y", help: "Y." }, async () => [{ value: 0.5 }]);
    metrics.histogram({ name: "z_seconds", help: "Z.", labelNames: ["route"] }, [0.1, 1], () => [
      { labels: { route: "/v1" }, counts: [3, 0, 2], sum: 7.5 },
    ]);
    const text = await metrics.text();
    expect(text).toContain('x_total{kind="a"} 2\n');
    expect(text).toContain("\ny 0.5\n");
    expect(text).toContain("# TYPE z_seconds histogram\n");
    expect(text).toContain('z_seconds_bucket{route="/v1",le="0.1"} 3\n');
    expect(text).toContain('z_seconds_bucket{route="/v1",le="1"} 3\n');
    expect(text).toContain('z_seconds_bucket{route="/v1",le="+Inf"} 5\n');
    expect(text).toContain('z_seconds_sum{route="/v1"} 7.5\n');
    expect(text).toContain('z_seconds_count{route="/v1"} 5\n');
    count = 3;
    expect(await metrics.text()).toContain('x_total{kind="a"} 3\n');
    expect(metrics.names).toEqual(["x_total", "y", "z_seconds"]);
  });

  it("leaves out the values of a reader that fails, and nothing else", async () => {
    const metrics = new Metrics();
    metrics.gauge({ name: "bad", help: "Bad." }, () => Promise.reject(new Error("gone")));
    metrics.counter({ name: "none_total", help: "None.", labelNames: ["kind"] }, () => []);
    metrics.gauge({ name: "good", help: "Good." }, () => [{ value: 1 }]);
    const text = await metrics.text();
    expect(text).toContain("\ngood 1\n");
    expect(text).not.toMatch(/^(bad|none_total)\b[^\n]* \d/m);
  });

  it("tells of the process", async () => {
    const metrics = new Metrics();
    metrics.describeProcess();
    const text = await metrics.text();
    for (const name of [
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "nodejs_eventloop_lag_p99_seconds",
    ]) {
      expect(text).toContain(`\n${name} `);
    }
  });
});
