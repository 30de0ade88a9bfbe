{{/*
DNS names in a certificate, as a JSON list: the first is the identity.
(dict "root" . "role" "gateway"), of a storage node with its number: (dict "root" . "role" "storage-node" "at" 0).
*/}}
{{- define "shoal.certificateNames" -}}
{{- $fullname := include "shoal.fullname" .root -}}
{{- $service := printf "%s-%s" $fullname .role -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $names := list -}}
{{- if eq .role "gateway" -}}
{{- $names = list "gateway" -}}
{{- else if has .role (list "coordinator" "contextionary") -}}
{{- $names = list .role $service (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.cluster.local" $service $namespace) -}}
{{- else if eq .role "storage-node" -}}
{{- $pod := printf "%s-%d" $service (int .at) -}}
{{- $names = list $pod (printf "%s.%s.%s.svc" $pod $service $namespace) (printf "%s.%s.%s.svc.cluster.local" $pod $service $namespace) -}}
{{- else -}}
{{- range $at := until (int .root.Values.etcd.replicas) -}}
{{- /* etcd looks up the names in the certificate of a peer, to see whether one leads to where it comes from. */ -}}
{{- $pod := printf "%s-%d" $service $at -}}
{{- $names = concat $names (list $pod (printf "%s.%s.%s.svc" $pod $service $namespace) (printf "%s.%s.%s.svc.cluster.local" $pod $service $namespace)) -}}
{{- end -}}
{{- end -}}
{{- append $names "localhost" | toJson -}}
{{- end -}}

{{/* All certificates of the release that the chart sees to, as a JSON list of {role, name, at}; a storage node has its own. */}}
{{- define "shoal.certificates" -}}
{{- $all := list (dict "role" "gateway" "name" "gateway") (dict "role" "coordinator" "name" "coordinator") -}}
{{- if eq (include "shoal.ownEtcd" .) "true" }}{{ $all = append $all (dict "role" "etcd" "name" "etcd") }}{{ end -}}
{{- if eq (include "shoal.ownContextionary" .) "true" }}{{ $all = append $all (dict "role" "contextionary" "name" "contextionary") }}{{ end -}}
{{- if ne .Values.internalTls.source "cert-manager-csi" -}}
{{- range $at := until (int .Values.storageNode.replicas) -}}
{{- $all = append $all (dict "role" "storage-node" "name" (printf "storage-node-%d" $at) "at" $at) -}}
{{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- define "shoal.ownContextionary" -}}
{{- $module := .Values.modules.contextionary -}}
{{- if and $module.enabled $module.own (not $module.url) }}true{{ end -}}
{{- end -}}

{{/* Whether each storage node has a Secret of its own, out of which an init container copies. */}}
{{- define "shoal.secretEachNode" -}}
{{- if and .Values.internalTls.enabled (has .Values.internalTls.source (list "generated" "cert-manager")) }}true{{ end -}}
{{- end -}}

{{/* The container that copies the certificate of the pod: (dict "root" . "everySeconds" 60). */}}
{{- define "shoal.certificateCopy" -}}
{{- include "shoal.container" .root }}
command: [/usr/local/bin/node, --input-type=module, -e]
args:
  - {{ .root.Files.Get "files/own-certificate.mjs" | quote }}
env:
  - name: CERTIFICATE_OF
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  - { name: ALL_CERTIFICATES, value: /certificates }
  - { name: OWN_CERTIFICATE, value: /etc/shoal/tls }
  - { name: EVERY_SECONDS, value: {{ .everySeconds | quote }} }
resources: { requests: { cpu: 10m, memory: 48Mi }, limits: { memory: 128Mi } }
volumeMounts:
  - { name: certificates, mountPath: /certificates, readOnly: true }
  - { name: tls, mountPath: /etc/shoal/tls }
{{- end -}}

{{/* Volumes of a storage node: what the container with the data mounts is called tls. */}}
{{- define "shoal.nodeTlsVolumes" -}}
{{- $root := .root -}}
{{- $fullname := include "shoal.fullname" $root -}}
{{- $service := printf "%s-storage-node" $fullname -}}
{{- if eq $root.Values.internalTls.source "cert-manager-csi" }}
{{- $issuer := $root.Values.internalTls.certManager.issuerRef }}
{{- $namespace := $root.Release.Namespace }}
- name: tls
  csi:
    driver: csi.cert-manager.io
    readOnly: true
    volumeAttributes:
      csi.cert-manager.io/issuer-name: {{ default (printf "%s-ca" $fullname) $issuer.name }}
      csi.cert-manager.io/issuer-kind: {{ ternary $issuer.kind "Issuer" (ne $issuer.name "") }}
      csi.cert-manager.io/issuer-group: {{ ternary $issuer.group "cert-manager.io" (ne $issuer.name "") }}
      csi.cert-manager.io/dns-names: {{ printf "${POD_NAME},${POD_NAME}.%s.%s.svc,${POD_NAME}.%s.%s.svc.cluster.local,localhost" $service $namespace $service $namespace | quote }}
      csi.cert-manager.io/ip-sans: 127.0.0.1
      csi.cert-manager.io/key-usages: digital signature,server auth,client auth
      csi.cert-manager.io/duration: {{ $root.Values.internalTls.certManager.duration }}
      csi.cert-manager.io/renew-before: {{ $root.Values.internalTls.certManager.renewBefore }}
      csi.cert-manager.io/fs-group: {{ $root.Values.podSecurityContext.fsGroup | quote }}
{{- else if eq (include "shoal.secretEachNode" $root) "true" }}
- name: tls
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
- name: certificates
  projected:
    defaultMode: 0440
    # As many as there may be: another node changes nothing in the pods that are there.
    sources:
      {{- range $at := until (int $root.Values.internalTls.storageNodesMax) }}
      - secret:
          name: {{ printf "%s-%d-tls" $service $at }}
          optional: true
          items:
            {{- range $file := list "ca.crt" "tls.crt" "tls.key" }}
            - { key: {{ $file }}, path: {{ printf "%s-%d/%s" $service $at $file }} }
            {{- end }}
      {{- end }}
{{- else }}
{{ include "shoal.tlsVolume" . | trim }}
{{- end }}
{{- end -}}
