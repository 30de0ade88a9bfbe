import { environmentSource, internalTlsFiles, readConfiguration } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { problemsOfSettings } from "../known-settings.js";
import { type Container, type KubernetesObject, podOf, variableOf } from "./kubernetes-object.js";
import { HELMS, renderChart, VALUE_SETS } from "./render-chart.js";

const [, helm = ""] = HELMS;
const ROLES = ["gateway", "storage-node", "coordinator"] as const;

/** What Kubernetes and the Secrets of the value sets would put in. */
const GIVEN: Readonly<Record<string, string>> = {
  POD_NAME: "rel-shoal-storage-node-0",
  AUTHENTICATION_OIDC_ISSUER: "https://id.example.com/realms/main",
  AUTHENTICATION_OIDC_CLIENT_ID: "shoal",
  ETCD_USERNAME: "shoal",
  ETCD_PASSWORD: "secret",
  CONTEXTIONARY_STORAGE_SECRET: "forty-letters-and-digits-that-are-random",
};

/** Where containers that run beside ours are. */
const ADDRESSES = /^(ENABLE_MODULES|CONTEXTIONARY_URL|[A-Z]+_INFERENCE_API)$/;

function environmentOf(container: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (container.env ?? []).map(({ name, value }) => [
      name,
      value?.replaceAll("$(POD_NAME)", GIVEN.POD_NAME ?? "") ?? GIVEN[name] ?? "",
    ]),
  );
}

function containerOf(objects: readonly KubernetesObject[], role: string): Container {
  const found = objects.flatMap((object) => podOf(object)?.containers ?? []).find((one) => one.name === role);
  if (found === undefined) throw new Error(`there is no container ${role}`);
  return found;
}

describe.each(VALUE_SETS)("settings of value set %s", (set) => {
  const objects = renderChart(helm, set);

  it.each(ROLES)("of the %s are known, each once, with values that its start accepts", (role) => {
    const container = containerOf(objects, role);
    const names = (container.env ?? []).map((one) => one.name);
    expect(names.length).toBe(new Set(names).size);
    const environment = environmentOf(container);
    expect(Object.values(environment)).not.toContain("");
    expect(problemsOfSettings(role, environment)).toEqual([]);
    expect(container.args).toEqual([role]);
  });

  it.each(ROLES)("give the %s its certificate where the processes talk over TLS", (role) => {
    const container = containerOf(objects, role);
    const configuration = readConfiguration([environmentSource(environmentOf(container))], () => {});
    const files = internalTlsFiles(configuration, ["0.0.0.0"]);
    const folder = container.volumeMounts?.find((mount) => mount.name === "tls")?.mountPath;
    expect(files?.certFile).toBe(folder === undefined ? undefined : `${folder}/tls.crt`);
    expect(files === undefined).toBe(set === "small");
  });

  it("let drains end before the pod is killed, and outlast the longest request", () => {
    for (const object of objects) {
      const pod = podOf(object);
      const [container] = pod?.containers ?? [];
      const drain = container && variableOf(container, "DRAIN_TIMEOUT_SECONDS");
      if (pod === undefined || container === undefined || drain === undefined) continue;
      const delay = Number(variableOf(container, "DRAIN_DELAY_SECONDS") ?? 0);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(drain) + delay);
      const batch = variableOf(container, "BATCH_TIMEOUT_SECONDS");
      if (batch !== undefined) expect(Number(drain)).toBeGreaterThan(Number(batch));
    }
    expect(variableOf(containerOf(objects, "storage-node"), "DRAIN_TIMEOUT_SECONDS")).toBeDefined();
  });

  it("name the storage nodes and coordinators as their services do", () => {
    const nodes = objects.find(
      (object) => object.kind === "StatefulSet" && object.metadata.name.endsWith("storage-node"),
    );
    const coordinator = containerOf(objects, "coordinator");
    expect(variableOf(coordinator, "CLUSTER_EXPECTED_STORAGE_NODES")).toBe(String(nodes?.spec?.replicas));
    const storage = containerOf(objects, "storage-node");
    const service = String(nodes?.spec?.serviceName);
    expect(variableOf(storage, "INTERNAL_ADVERTISED_ADDRESS")).toBe(`$(POD_NAME).${service}.search.svc:7101`);
    expect(variableOf(storage, "CLUSTER_HOSTNAME")).toBe("$(POD_NAME)");
    const services = objects.filter((object) => object.kind === "Service").map((object) => object.metadata.name);
    expect(services).toContain(service);
    const [, asked = ""] =
      /^([a-z-]+)\.search\.svc:7100$/.exec(variableOf(storage, "COORDINATOR_ADDRESSES") ?? "") ?? [];
    expect(services).toContain(asked);
  });
});

describe("time-outs in front of the gateways", () => {
  it("are longer than that of a batch, whatever it is", () => {
    const values = ["--set", "batchTimeoutSeconds=500"];
    const [nginx] = renderChart(helm, "production", ...values).filter((object) => object.kind === "Ingress");
    expect(nginx?.metadata.annotations).toMatchObject({
      "nginx.ingress.kubernetes.io/proxy-read-timeout": "530",
      "nginx.ingress.kubernetes.io/proxy-send-timeout": "530",
      "nginx.ingress.kubernetes.io/proxy-body-size": "67108864",
    });
    const [haproxy] = renderChart(helm, "modules", ...values).filter((object) => object.kind === "Ingress");
    expect(haproxy?.metadata.annotations).toMatchObject({ "haproxy.org/timeout-server": "530s" });
    const external = renderChart(helm, "external", ...values);
    const [route] = external.filter((object) => object.kind === "HTTPRoute");
    expect(JSON.stringify(route?.spec)).toContain('"timeouts":{"request":"530s","backendRequest":"530s"}');
    const balanced = external.filter((object) => object.kind === "Service" && object.spec?.type === "LoadBalancer");
    expect(balanced[0]?.metadata.annotations).toMatchObject({
      "service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout": "530",
      "example.com/scheme": "internal",
    });
  });
});

describe("modules", () => {
  it("are named to the gateways with the addresses of their services", () => {
    const environment = environmentOf(containerOf(renderChart(helm, "modules"), "gateway"));
    const asked = Object.fromEntries(Object.entries(environment).filter(([name]) => ADDRESSES.test(name)));
    expect(asked).toEqual({
      ENABLE_MODULES:
        "text2vec-contextionary,text2vec-transformers,qna-transformers,ner-transformers,img2vec-neural,text-spellcheck",
      CONTEXTIONARY_URL: "rel-shoal-contextionary.search.svc:9999",
      IMAGE_INFERENCE_API: "http://rel-shoal-img2vec.search.svc:8080",
      NER_INFERENCE_API: "http://rel-shoal-ner.search.svc:8080",
      QNA_INFERENCE_API: "http://rel-shoal-qna.search.svc:8080",
      SPELLCHECK_INFERENCE_API: "http://spellcheck.models.svc:8080",
      TRANSFORMERS_INFERENCE_API: "http://rel-shoal-transformers.search.svc:8080",
    });
  });

  it("of our own gets settings that it knows, and a volume for what it is taught", () => {
    const objects = renderChart(helm, "production");
    const container = containerOf(objects, "contextionary");
    expect(problemsOfSettings("contextionary", environmentOf(container))).toEqual([]);
    expect(container.args).toEqual(["contextionary"]);
    expect(variableOf(container, "INTERNAL_PORT")).toBe(String(container.ports?.[0]?.containerPort));
    const mounts = container.volumeMounts?.map((mount) => mount.mountPath);
    expect(mounts).toEqual([variableOf(container, "PERSISTENCE_DATA_PATH"), "/etc/shoal/tls"]);
    // S6: over mutual TLS.
    expect(variableOf(container, "INTERNAL_TLS")).toBe("on");
    expect(variableOf(containerOf(objects, "gateway"), "CONTEXTIONARY_TLS")).toBe("true");
    expect(variableOf(containerOf(objects, "gateway"), "CONTEXTIONARY_URL")).toMatch(
      /^rel-shoal-contextionary\..*:9999$/,
    );
  });

  it("S3: a published one knows the secret with which it stores at the gateways", () => {
    const objects = renderChart(helm, "modules");
    const [gateway, contextionary] = ["gateway", "contextionary"].map((role) =>
      containerOf(objects, role).env?.find(({ name }) => name === "CONTEXTIONARY_STORAGE_SECRET"),
    );
    expect(gateway?.valueFrom?.secretKeyRef?.name).toBe("rel-shoal-contextionary-storage");
    expect(contextionary).toEqual(gateway);
    expect(variableOf(containerOf(objects, "contextionary"), "EXTENSIONS_STORAGE_ORIGIN")).toMatch(
      /^http:\/\/shoal:\$\(CONTEXTIONARY_STORAGE_SECRET\)@rel-shoal-gateway-internal\./,
    );
  });

  it("are not mentioned where none is enabled", () => {
    const environment = environmentOf(containerOf(renderChart(helm, "default"), "gateway"));
    expect(Object.keys(environment).filter((name) => ADDRESSES.test(name))).toEqual([]);
  });
});
