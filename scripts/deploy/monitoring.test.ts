import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readPackages, readText } from "../source-tree.js";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const ALERTS = "deploy/prometheus/alerts.yaml";
const DASHBOARD = "deploy/grafana/dashboard.json";

const rules = (parse(readText(ALERTS)) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const panels = (JSON.parse(readText(DASHBOARD)) as { panels: readonly Panel[] }).panels;

/** Metrics that others make: Prometheus, Node's client for it, etcd. */
const OTHERS =
  /^(up|process_(cpu_seconds_total|resident_memory_bytes|start_time_seconds)|nodejs_eventloop_lag_p99_seconds|etcd_server_has_leader)$/;

/** Names of metrics in the sources: what is declared stands there as a text. */
const declared = new Set(
  readPackages().flatMap((one) =>
    one.folder.startsWith("packages/")
      ? one.files
          .filter((file) => !file.isTest)
          .flatMap((file) => file.text.match(/(?<=")shoal_[a-z0-9_]+(?=")/g) ?? [])
      : [],
  ),
);

/** Names of metrics in an expression; a histogram is declared without what its series end in. */
function metricsIn(expression: string): readonly string[] {
  const bare = expression.replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, " ").replace(/\bby \([^)]*\)/g, " ");
  return [...bare.matchAll(/\b[a-z]\w*_\w+|\bup\b/g)]
    .map(([name]) => name.replace(/_(bucket|sum|count)$/, ""))
    .filter((name) => !["histogram_quantile", "label_values"].includes(name));
}

const expressions = [
  ...rules.map((rule) => [rule.alert, rule.expr] as const),
  ...panels.flatMap((panel) => (panel.targets ?? []).map((target) => [panel.title, target.expr] as const)),
];

describe("alerts and dashboard", () => {
  it.each(expressions)("%s asks for metrics that exist: %s", (_, expression) => {
    const names = metricsIn(expression);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(declared.has(name) || OTHERS.test(name), name).toBe(true);
  });

  it("have metrics that METRICS.md explains, and it explains all that exist", () => {
    const explained = new Set(readText("deploy/METRICS.md").match(/(?<=`)shoal_[a-z0-9_]+(?=`)/g));
    expect([...declared].filter((name) => !explained.has(name))).toEqual([]);
    expect([...explained].filter((name) => !declared.has(name))).toEqual([]);
    expect(declared.size).toBeGreaterThan(20);
  });

  it("labels are those of the metrics: words of METRICS.md", () => {
    const page = readText("deploy/METRICS.md");
    const sources = readPackages().flatMap((one) => one.files.map((file) => file.text));
    for (const [title, expression] of expressions) {
      for (const [, label = "", value = ""] of expression.matchAll(/(\w+)=~?"([^"$]+)"/g)) {
        if (label === "role" || /^\d{3}$/.test(value)) continue;
        const isKnown = page.includes(`\`${value}\``) || sources.some((text) => text.includes(`path: "${value}"`));
        expect(isKnown, `${title}: ${label}=${value}`).toBe(true);
      }
    }
  });

  it("every alert has a name of its own, a severity, and a section in the runbook", () => {
    const sections = [...readText("deploy/RUNBOOK.md").matchAll(/^### (Shoal\w+)$/gm)].map(([, name]) => name);
    const names = rules.map((rule) => rule.alert);
    expect(new Set(names).size).toBe(names.length);
    expect([...sections].sort()).toEqual([...names].sort());
    for (const rule of rules) {
      expect(["warning", "critical"]).toContain(rule.labels.severity);
      expect(rule.annotations.summary.length).toBeGreaterThan(10);
    }
  });

  it("the chart has the same ones", () => {
    expect(readText("helm/shoal/files/alerts.yaml")).toBe(readText(ALERTS));
    expect(readText("helm/shoal/files/dashboard.json")).toBe(readText(DASHBOARD));
  });

  it("every panel has a title of its own", () => {
    const titles = panels.filter((panel) => panel.type !== "row").map((panel) => panel.title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const panel of panels) if (panel.type !== "row") expect(panel.targets?.length).toBeGreaterThan(0);
  });
});
