{{/* DNS names in the certificate of a role, as a JSON list; (dict "root" . "role" "gateway"). The first is the identity. */}}
{{- define "shoal.certificateNames" -}}
{{- $fullname := include "shoal.fullname" .root -}}
{{- $service := printf "%s-%s" $fullname .role -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $names := list -}}
{{- if eq .role "gateway" -}}
{{- $names = list "gateway" -}}
{{- else if eq .role "coordinator" -}}
{{- $names = list "coordinator" $service (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.cluster.local" $service $namespace) -}}
{{- else -}}
{{- $count := ternary (int .root.Values.etcd.replicas) (int .root.Values.internalTls.storageNodesMax) (eq .role "etcd") -}}
{{- range $at := until $count -}}
{{- $names = append $names (printf "%s-%d" $service $at) -}}
{{- if eq $.role "etcd" -}}
{{- /* etcd looks up the names in the certificate of a peer, to see whether one leads to where it comes from. */ -}}
{{- $names = append $names (printf "%s-%d.%s.%s.svc" $service $at $service $namespace) -}}
{{- end -}}
{{- end -}}
{{- $names = concat $names (list (printf "*.%s.%s.svc" $service $namespace) (printf "*.%s.%s.svc.cluster.local" $service $namespace)) -}}
{{- end -}}
{{- append $names "localhost" | toJson -}}
{{- end -}}

{{/* Roles that need a certificate, separated by spaces. */}}
{{- define "shoal.certificateRoles" -}}
gateway storage-node coordinator{{ if eq (include "shoal.ownEtcd" .) "true" }} etcd{{ end }}
{{- end -}}
