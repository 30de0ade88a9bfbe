import { describe, expect, it } from "vitest";
import { type KubernetesObject, podOf } from "./kubernetes-object.js";
import { HELMS, objectsOf, RELEASE, renderChart, templateRelease, VALUE_SETS } from "./render-chart.js";
import { unknownFields, validateObject } from "./validate-object.js";

const [, helm = ""] = HELMS;
const title = (object: KubernetesObject): string => `${object.kind} ${object.metadata.name}`;

/** Secrets that the value sets say exist already. */
const GIVEN =
  /^(registry|shoal-oidc|shoal-tls|etcd-user|etcd-client|search-api-keys|search-(gateway|storage|coordinator)-tls)$/;

function labelsFit(wanted: unknown, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted as Record<string, string>).every(([name, value]) => labels[name] === value);
}

describe.each(VALUE_SETS)("objects of value set %s", (set) => {
  const objects = renderChart(helm, set);
  const workloads = objects.filter((object) => object.spec?.template !== undefined);
  const named = (kind: string): readonly string[] =>
    objects.filter((object) => object.kind === kind).map((object) => object.metadata.name);

  it("are what Kubernetes says they are", async () => {
    expect(objects.length).toBeGreaterThan(5);
    const wrong = await Promise.all(
      objects.map(async (object) => (await validateObject(object)).map((problem) => `${title(object)}: ${problem}`)),
    );
    expect(wrong.flat()).toEqual([]);
  });

  it("have no field that Kubernetes does not know", () => {
    expect(unknownFields(objects)).toEqual([]);
  });

  it("have names of the release, each once, short enough for everything made of them", () => {
    const titles = objects.map(title);
    expect(new Set(titles).size).toBe(titles.length);
    const prefix = set === "external" ? "search" : RELEASE;
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(new RegExp(`^${prefix}(-[a-z0-9-]+)?$`));
      expect(metadata.name.length).toBeLessThanOrEqual(63 - "-0123456789-abcde".length);
    }
  });

  it("carry the labels that say whose they are, and pods only what never changes", () => {
    for (const { metadata } of objects)
      expect(metadata.labels).toMatchObject({ "app.kubernetes.io/instance": RELEASE });
    for (const { spec } of workloads) {
      expect(spec?.selector).toEqual({ matchLabels: spec?.template?.metadata.labels });
    }
  });

  it("select pods that exist: services, budgets, policies, spreads", () => {
    const pods = workloads.map((object) => object.spec?.template?.metadata.labels ?? {});
    for (const object of objects) {
      const { spec, kind } = object;
      if (!["Service", "PodDisruptionBudget", "NetworkPolicy"].includes(kind)) continue;
      const selector = spec?.podSelector ?? spec?.selector ?? {};
      const wanted = kind === "Service" ? selector : selector.matchLabels;
      const selected = pods.filter((labels) => labelsFit(wanted, labels)).length;
      const expected = object.metadata.name.endsWith("-metrics") ? workloads.length : 1;
      expect(selected, title(object)).toBe(expected);
    }
  });

  it("have ports where services look for them", () => {
    for (const service of objects.filter((object) => object.kind === "Service")) {
      const behind = workloads.filter((one) =>
        labelsFit(service.spec?.selector, one.spec?.template?.metadata.labels ?? {}),
      );
      const ports = behind.flatMap((one) => podOf(one)?.containers[0]?.ports?.map((port) => port.name) ?? []);
      for (const port of service.spec?.ports ?? []) {
        if (port.targetPort === "metrics" && !named("StatefulSet").some((name) => name.endsWith("-etcd"))) continue;
        expect(ports, title(service)).toContain(port.targetPort);
      }
    }
  });

  it("refer to accounts, claims, Secrets and volumes that exist", () => {
    const made = objects.flatMap((object) =>
      object.kind === "Certificate"
        ? [String(object.spec?.secretName)]
        : object.kind === "Secret"
          ? [object.metadata.name]
          : [],
    );
    for (const object of objects) {
      const pod = podOf(object);
      if (pod === undefined) continue;
      expect([...named("ServiceAccount"), "default"]).toContain(pod.serviceAccountName);
      const volumes = [...(pod.volumes ?? []), ...(object.spec?.volumeClaimTemplates ?? []).map((one) => one.metadata)];
      for (const { secret, persistentVolumeClaim } of pod.volumes ?? []) {
        if (secret !== undefined && !GIVEN.test(secret.secretName)) expect(made).toContain(secret.secretName);
        if (persistentVolumeClaim !== undefined) {
          expect(named("PersistentVolumeClaim")).toContain(persistentVolumeClaim.claimName);
        }
      }
      const mounted = pod.containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map((mount) => mount.name));
      expect(new Set(mounted), title(object)).toEqual(new Set(volumes.map((volume) => volume.name)));
      for (const container of pod.containers) {
        for (const { valueFrom } of container.env ?? []) {
          const name = valueFrom?.secretKeyRef?.name;
          if (name !== undefined && !made.includes(name)) expect(name).toMatch(GIVEN);
        }
      }
    }
  });

  it("are allowed where the namespace demands restricted pods", () => {
    for (const object of objects) {
      const pod = podOf(object);
      if (pod === undefined) continue;
      expect(pod.securityContext, title(object)).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        expect(container.securityContext, title(object)).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container.resources?.requests).toMatchObject({ cpu: expect.anything(), memory: expect.anything() });
        expect(container.resources?.limits).toMatchObject({ memory: expect.anything() });
        expect(container.image).toMatch(/^[a-z0-9./_-]+:[\w.-]+$/);
      }
    }
  });

  it("probe ports that the container has", () => {
    for (const object of workloads) {
      for (const container of podOf(object)?.containers ?? []) {
        // It listens on no port.
        if (container.name === "certificates") continue;
        const ports = container.ports?.map((port) => port.name);
        const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
        expect(container.readinessProbe, title(object)).toBeDefined();
        expect(container.livenessProbe, title(object)).toBeDefined();
        for (const probe of probes) {
          if (probe !== undefined) expect(ports).toContain(probe.httpGet?.port ?? probe.tcpSocket?.port);
        }
      }
    }
  });
});

describe("the checks", () => {
  const [deployment] = renderChart(helm, "default").filter((object) => object.kind === "Deployment");

  it("find a misspelled field, at any depth, and a field of the wrong type", async () => {
    if (deployment === undefined) throw new Error("there is no Deployment");
    const misspelled = JSON.parse(
      JSON.stringify(deployment).replaceAll('"readOnly"', '"readonly"'),
    ) as KubernetesObject;
    expect(unknownFields([misspelled]).join()).toMatch(/readonly\W+ does not exist/);
    const wrong = { ...deployment, spec: { ...deployment.spec, replicas: "two" as unknown as number } };
    expect((await validateObject(wrong)).join()).toContain("replicas");
    expect(await validateObject({ ...deployment, kind: "Deplyment" })).toEqual(["apps/v1 has no such kind"]);
  });
});

it("two releases in one namespace have nothing in common", () => {
  const [one = [], other = []] = [RELEASE, "another"].map((release) =>
    objectsOf(templateRelease(helm, release, "production").text).map(title),
  );
  expect(one.length).toBeGreaterThan(20);
  expect(one.filter((name) => other.includes(name))).toEqual([]);
});
