{{/* Variables that every process of ours gets. (dict "root" . "role" "gateway" "own" .Values.gateway.env) */}}
{{- define "shoal.env" -}}
{{- $values := .root.Values -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- if eq .role "storage-node" }}
- name: CLUSTER_HOSTNAME
  value: $(POD_NAME)
{{- end }}
- name: METRICS_HOST
  value: 0.0.0.0
- name: METRICS_PORT
  value: "9100"
- name: LOG_LEVEL
  value: {{ $values.logLevel | quote }}
- name: PERSISTENCE_DATA_PATH
  value: /var/lib/shoal
- name: INTERNAL_TLS
  value: {{ ternary "on" "off" $values.internalTls.enabled | quote }}
{{- if $values.internalTls.enabled }}
- name: INTERNAL_TLS_CA_FILE
  value: /etc/shoal/tls/ca.crt
- name: INTERNAL_TLS_CERT_FILE
  value: /etc/shoal/tls/tls.crt
- name: INTERNAL_TLS_KEY_FILE
  value: /etc/shoal/tls/tls.key
{{- end }}
{{- if ne .role "coordinator" }}
- name: COORDINATOR_ADDRESSES
  value: {{ printf "%s-coordinator.%s.svc:7100" (include "shoal.fullname" .root) .root.Release.Namespace | quote }}
{{- end }}
{{- $own := mergeOverwrite (deepCopy $values.env) .own }}
{{- range $name := keys $own | sortAlpha }}
- name: {{ $name }}
  value: {{ include "shoal.text" (get $own $name) | quote }}
{{- end }}
{{- end -}}

{{/* A value as text; large numbers in all their digits. */}}
{{- define "shoal.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end -}}

{{- define "shoal.probes" -}}
livenessProbe:
  httpGet: { path: /live, port: internal }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /ready, port: internal }
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}

{{/* (dict "root" . "role" "gateway" "of" .Values.gateway): what all pods of ours have in their spec. */}}
{{- define "shoal.podSpec" -}}
serviceAccountName: {{ include "shoal.serviceAccount" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- with .of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .of.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .of.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* (dict "root" . "role" "gateway" "constraints" list) */}}
{{- define "shoal.spread" -}}
topologySpreadConstraints:
  {{- $selector := dict "root" .root "role" .role }}
  {{- range .constraints }}
  - maxSkew: 1
    topologyKey: {{ .topologyKey }}
    whenUnsatisfiable: {{ .whenUnsatisfiable }}
    labelSelector:
      matchLabels: {{ include "shoal.selector" $selector | nindent 8 }}
  {{- end }}
{{- end -}}

{{- define "shoal.spreadByDefault" -}}
{{- $constraints := list (dict "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") (dict "topologyKey" "topology.kubernetes.io/zone" "whenUnsatisfiable" "ScheduleAnyway") -}}
{{- include "shoal.spread" (dict "root" .root "role" .role "constraints" $constraints) -}}
{{- end -}}

{{- define "shoal.container" -}}
image: {{ include "shoal.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{ toYaml .Values.containerSecurityContext | nindent 2 }}
{{- end -}}

{{- define "shoal.tlsMount" -}}
{{- if .Values.internalTls.enabled }}
- { name: tls, mountPath: /etc/shoal/tls, readOnly: true }
{{- end }}
{{- end -}}

{{- define "shoal.tlsVolume" -}}
{{- if .root.Values.internalTls.enabled }}
- name: tls
  secret: { secretName: {{ include "shoal.tlsSecret" . }}, defaultMode: 0440 }
{{- end }}
{{- end -}}

{{/* (dict "root" . "role" "gateway" "of" .Values.gateway) */}}
{{- define "shoal.disruptionBudget" -}}
{{- if .of.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "shoal.fullname" .root }}-{{ .role }}
  labels: {{ include "shoal.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .of.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels: {{ include "shoal.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
