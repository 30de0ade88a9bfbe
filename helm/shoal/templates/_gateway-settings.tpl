{{/* Who gets in and may do what. */}}
{{- define "shoal.authenticationEnv" -}}
{{- $oidc := .Values.oidc -}}
{{- $hasIssuer := or $oidc.issuer $oidc.existingSecret -}}
{{- if and .Values.requiresAuthentication (not $hasIssuer) (not .Values.apiKeys.existingSecret) -}}
{{- fail "requiresAuthentication needs oidc.issuer and oidc.clientId, or oidc.existingSecret, or apiKeys.existingSecret" -}}
{{- end -}}
{{- if and $oidc.issuer (not $oidc.clientId) (not $oidc.skipClientIdCheck) -}}
{{- fail "oidc.issuer needs oidc.clientId, unless oidc.skipClientIdCheck is true" -}}
{{- end -}}
- name: REQUIRES_AUTHENTICATION
  value: {{ .Values.requiresAuthentication | quote }}
{{- if .Values.apiKeys.existingSecret }}
- name: AUTHENTICATION_APIKEY_ENABLED
  value: "true"
- name: AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE
  value: /etc/shoal/api-keys/{{ .Values.apiKeys.existingSecretKey }}
{{- end }}
{{- if ne .Values.auditLog "off" }}
- name: AUDIT_LOG
  value: {{ .Values.auditLog | quote }}
{{- end }}
{{- if $hasIssuer }}
- name: AUTHENTICATION_OIDC_ENABLED
  value: "true"
{{- if $oidc.existingSecret }}
- name: AUTHENTICATION_OIDC_ISSUER
  valueFrom: { secretKeyRef: { name: {{ $oidc.existingSecret }}, key: {{ $oidc.existingSecretKeys.issuer }} } }
- name: AUTHENTICATION_OIDC_CLIENT_ID
  valueFrom: { secretKeyRef: { name: {{ $oidc.existingSecret }}, key: {{ $oidc.existingSecretKeys.clientId }}, optional: {{ $oidc.skipClientIdCheck }} } }
{{- else }}
- name: AUTHENTICATION_OIDC_ISSUER
  value: {{ $oidc.issuer | quote }}
- name: AUTHENTICATION_OIDC_CLIENT_ID
  value: {{ $oidc.clientId | quote }}
{{- end }}
- name: AUTHENTICATION_OIDC_SKIP_CLIENT_ID_CHECK
  value: {{ $oidc.skipClientIdCheck | quote }}
- name: AUTHENTICATION_OIDC_USERNAME_CLAIM
  value: {{ $oidc.usernameClaim | quote }}
{{- with $oidc.groupsClaim }}
- name: AUTHENTICATION_OIDC_GROUPS_CLAIM
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- if .Values.adminList.enabled }}
- name: AUTHORIZATION_ADMINLIST_ENABLED
  value: "true"
{{- with .Values.adminList.users }}
- name: AUTHORIZATION_ADMINLIST_USERS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.adminList.readOnlyUsers }}
- name: AUTHORIZATION_ADMINLIST_READONLY_USERS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.adminList.groups }}
- name: AUTHORIZATION_ADMINLIST_GROUPS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.adminList.readOnlyGroups }}
- name: AUTHORIZATION_ADMINLIST_READONLY_GROUPS
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The variable of a module's address, by its key in the values. */}}
{{- define "shoal.modules" -}}
contextionary: { variable: CONTEXTIONARY_URL, scheme: "" }
transformers: { variable: TRANSFORMERS_INFERENCE_API, scheme: "http://" }
qna: { variable: QNA_INFERENCE_API, scheme: "http://" }
ner: { variable: NER_INFERENCE_API, scheme: "http://" }
img2vec: { variable: IMAGE_INFERENCE_API, scheme: "http://" }
spellcheck: { variable: SPELLCHECK_INFERENCE_API, scheme: "http://" }
{{- end -}}

{{- define "shoal.contextionaryEnv" -}}
{{- $contextionary := .Values.modules.contextionary -}}
{{- if and $contextionary.enabled (not $contextionary.url) -}}
{{- if $contextionary.own -}}
- name: CONTEXTIONARY_TLS
  value: {{ .Values.internalTls.enabled | quote }}
{{- else -}}
- name: CONTEXTIONARY_STORAGE_SECRET
  valueFrom: { secretKeyRef: { name: {{ include "shoal.fullname" . }}-contextionary-storage, key: secret } }
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "shoal.modulesEnv" -}}
{{- $known := include "shoal.modules" . | fromYaml -}}
- name: MODULE_CACHE_PATH
  value: /var/lib/shoal/modules
{{- range $key := keys $known | sortAlpha }}
{{- $module := get $known $key }}
{{- $values := get $.Values.modules $key }}
{{- if $values.enabled }}
- name: {{ $module.variable }}
  value: {{ default (printf "%s%s-%s.%s.svc:%d" $module.scheme (include "shoal.fullname" $) $key $.Release.Namespace (int $values.port)) $values.url | quote }}
{{- end }}
{{- end }}
{{- with .Values.modules.only }}
- name: ENABLE_MODULES
  value: {{ join "," . | quote }}
{{- end }}
- name: DEFAULT_VECTORIZER_MODULE
  value: {{ .Values.modules.defaultVectorizer | quote }}
{{- end -}}
