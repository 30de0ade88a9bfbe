import { describe, expect, it } from "vitest";
import { CHART, HELMS, runHelm, templateChart, VALUE_SETS, valuesFile, withoutCertificates } from "./render-chart.js";

const [, newest = ""] = HELMS;

describe.each(VALUE_SETS)("value set %s", (set) => {
  it.each(HELMS)("has no fault that %s lint would find", (helm) => {
    const { text, failure } = runHelm(helm, "lint", "--strict", CHART, "--values", valuesFile(set));
    expect(failure).toBeUndefined();
    expect(text).toContain("1 chart(s) linted, 0 chart(s) failed");
    expect(text).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  it("renders to what is written down, with Helm 3 as with Helm 4 (vitest --update writes it anew)", async () => {
    const texts = HELMS.map((helm) => {
      const { text, failure } = templateChart(helm, set);
      expect(failure).toBeUndefined();
      return withoutCertificates(text);
    });
    expect(texts[0]).toBe(texts[1]);
    await expect(texts[1]).toMatchFileSnapshot(`golden/${set}.yaml`);
  });

  it("renders the same for the same values", () => {
    const [first, second] = [1, 2].map(() => withoutCertificates(templateChart(newest, set).text));
    expect(first).toBe(second);
  });
});

describe("values", () => {
  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    ["a value that does not exist", ["gateway.replica=2"], "replica"],
    ["a word that is none of those", ["wireProfile=other"], "wireProfile"],
    ["a setting that has a value of its own", ["env.BATCH_TIMEOUT_SECONDS=5"], "BATCH_TIMEOUT_SECONDS"],
    ["an even number of etcd members", ["etcd.replicas=2"], "etcd/replicas|etcd.replicas"],
    ["authentication without an issuer", ["requiresAuthentication=true"], "requiresAuthentication needs oidc.issuer"],
    [
      "a key as a setting of its own",
      ["env.AUTHENTICATION_APIKEY_ALLOWED_KEYS=k"],
      "AUTHENTICATION_APIKEY_ALLOWED_KEYS",
    ],
    ["an issuer without a client id", ["oidc.issuer=https://id.example.com"], "oidc.issuer needs oidc.clientId"],
    ["an Ingress without a host", ["ingress.enabled=true"], "ingress.hosts must name at least one host"],
    ["a route without a Gateway", ["httpRoute.enabled=true"], "httpRoute.parentRefs must name at least one Gateway"],
    ["no etcd at all", ["etcd.enabled=false"], "etcd.external.endpoints must name an etcd"],
    [
      "Secrets that have no names",
      ["internalTls.source=existing"],
      "internalTls.existingSecrets.\\w+ must name a Secret",
    ],
    ["more nodes than names in the certificate", ["storageNode.replicas=17"], "internalTls.storageNodesMax"],
    ["a drain that does not fit", ["storageNode.terminationGracePeriodSeconds=20"], "terminationGracePeriodSeconds"],
  ];
  it.each(refusals)("with %s are refused", (_, settings, reason) => {
    for (const helm of HELMS) {
      const { failure } = templateChart(helm, "default", ...settings.flatMap((one) => ["--set", one]));
      expect(failure).toMatch(new RegExp(reason));
    }
  });
});
