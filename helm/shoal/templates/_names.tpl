{{- define "shoal.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* What every object's name begins with: the release, and the chart where the release does not say it already. */}}
{{- define "shoal.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "shoal.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* (dict "root" . "role" "gateway") */}}
{{- define "shoal.selector" -}}
app.kubernetes.io/name: {{ include "shoal.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "shoal.labels" -}}
{{ include "shoal.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "shoal.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "shoal.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "shoal.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "shoal.hasEtcd" -}}
{{- if eq .Values.coordinator.store "etcd" }}true{{ end -}}
{{- end -}}

{{- define "shoal.ownEtcd" -}}
{{- if and (eq .Values.coordinator.store "etcd") .Values.etcd.enabled }}true{{ end -}}
{{- end -}}

{{/* (dict "root" . "role" "gateway"): the Secret with ca.crt, tls.crt and tls.key of a role. */}}
{{- define "shoal.tlsSecret" -}}
{{- $roles := dict "gateway" "gateway" "storage-node" "storageNode" "coordinator" "coordinator" "etcd" "etcd" "contextionary" "contextionary" -}}
{{- if eq .root.Values.internalTls.source "existing" -}}
{{- required (printf "internalTls.existingSecrets.%s must name a Secret, because internalTls.source is existing" (get $roles .role)) (get .root.Values.internalTls.existingSecrets (get $roles .role)) -}}
{{- else -}}
{{- printf "%s-%s-tls" (include "shoal.fullname" .root) .role -}}
{{- end -}}
{{- end -}}

{{/* The longer one of the two time-outs, which everything in front of the gateways has to exceed. */}}
{{- define "shoal.requestSeconds" -}}
{{- max (int .Values.batchTimeoutSeconds) (int .Values.requestTimeoutSeconds) -}}
{{- end -}}

{{- define "shoal.proxySeconds" -}}
{{- add (include "shoal.requestSeconds" . | int) 30 -}}
{{- end -}}
