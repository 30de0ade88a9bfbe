/** A rendered object, as far as the checks look into it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: ObjectSpec;
}

export interface ObjectSpec {
  readonly replicas?: number;
  readonly serviceName?: string;
  readonly selector?: Readonly<Record<string, unknown>>;
  readonly podSelector?: Readonly<Record<string, unknown>>;
  readonly template?: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: PodSpec;
  };
  readonly jobTemplate?: { readonly spec: Pick<ObjectSpec, "template"> };
  readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  readonly [member: string]: unknown;
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly resources?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly tcpSocket?: { readonly port: string };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

/** The pod of a workload, of what starts it now and then, or of a bare pod. */
export function podOf({ kind, spec }: KubernetesObject): PodSpec | undefined {
  if (kind === "Pod") return spec as unknown as PodSpec;
  return (spec?.jobTemplate?.spec ?? spec)?.template?.spec;
}

/** The value of a variable, where it is given as text. */
export function variableOf(container: Container, name: string): string | undefined {
  return container.env?.find((one) => one.name === name)?.value;
}
