{{- define "a2a-gateway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "a2a-gateway.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "a2a-gateway.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "a2a-gateway.selector" -}}
app.kubernetes.io/name: {{ include "a2a-gateway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "a2a-gateway.labels" -}}
{{ include "a2a-gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "a2a-gateway.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "a2a-gateway.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "a2a-gateway.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "a2a-gateway.tlsSecret" -}}
{{- default (printf "%s-tls" (include "a2a-gateway.fullname" .)) .Values.tls.secretName }}
{{- end }}

{{- define "a2a-gateway.redisSecret" -}}
{{- if .Values.redis.existingSecret }}
{{- .Values.redis.existingSecret }}
{{- else if .Values.redis.password }}
{{- printf "%s-redis" (include "a2a-gateway.fullname" .) }}
{{- end }}
{{- end }}

{{- define "a2a-gateway.host" -}}
{{- (urlParse .Values.config.server.publicURL).hostname }}
{{- end }}

{{- define "a2a-gateway.portName" -}}
{{- ternary "https" "http" .Values.tls.enabled }}
{{- end }}

{{- /* Whether there may be more than one replica. */}}
{{- define "a2a-gateway.several" -}}
{{- if or (gt (int .Values.replicaCount) 1) .Values.autoscaling.enabled }}true{{ end }}
{{- end }}

{{- /* Whether API keys are in a file on the volume: no other is named. Replicas have none then. */}}
{{- define "a2a-gateway.keysOnVolume" -}}
{{- $authn := default dict (get .Values.config "authn") }}
{{- if and (not .Values.apiKeys.existingSecret) (hasKey $authn "apiKeys") (not (dig "apiKeys" "file" "" $authn)) }}true{{ end }}
{{- end }}

{{- /* How long draining may take, as the configuration has it. */}}
{{- define "a2a-gateway.drain" -}}
{{- $timeouts := default dict (get .Values.config.server "timeouts") }}
{{- default "30s" (get $timeouts "drain") }}
{{- end }}

{{- /* The same in seconds, "" where that cannot be told: durations are written as in Go, or in days. */}}
{{- define "a2a-gateway.drainSeconds" -}}
{{- $drain := include "a2a-gateway.drain" . }}
{{- if regexMatch "^[0-9]+s$" $drain }}{{ trimSuffix "s" $drain | int }}
{{- else if regexMatch "^[0-9]+m$" $drain }}{{ mul (trimSuffix "m" $drain | int) 60 }}
{{- else if regexMatch "^[0-9]+h$" $drain }}{{ mul (trimSuffix "h" $drain | int) 3600 }}
{{- end }}
{{- end }}

{{- /* How long a gateway that drains takes calls: 5 s, and no more than half of draining. */}}
{{- define "a2a-gateway.lameDuck" -}}
{{- $seconds := include "a2a-gateway.drainSeconds" . }}
{{- if and $seconds (lt (int $seconds) 10) }}{{ mul (int $seconds) 500 }}ms{{ else }}5s{{ end }}
{{- end }}

{{- /* The configuration: the values', with what the chart decides over it. */}}
{{- define "a2a-gateway.config" -}}
{{- $over := dict "address" (ternary ":8443" ":8080" .Values.tls.enabled) "statusAddress" ":9902" "dataDir" "/var/lib/a2a-gateway" }}
{{- if .Values.tls.enabled }}
{{- $pair := dict "cert" "/etc/a2a-gateway-tls/tls.crt" "key" "/etc/a2a-gateway-tls/tls.key" }}
{{- $_ := set $over "tls" (dict "certificates" (list $pair)) }}
{{- else }}
{{- $_ := set $over "plaintext" true }}
{{- $_ := set $over "h2c" true }}
{{- end }}
{{- $status := printf "%s-status" (include "a2a-gateway.fullname" .) }}
{{- $named := printf "%s.%s" $status .Release.Namespace }}
{{- $_ := set $over "statusHosts" (concat (list $status $named (printf "%s.svc" $named) (printf "%s.svc.cluster.local" $named)) (dig "server" "statusHosts" (list) .Values.config)) }}
{{- $over = dict "server" $over }}
{{- if .Values.apiKeys.existingSecret }}
{{- $_ := set $over "authn" (dict "apiKeys" (dict "file" "/etc/a2a-gateway-keys/keys.yaml")) }}
{{- else if and (include "a2a-gateway.keysOnVolume" .) (not (include "a2a-gateway.several" .)) }}
{{- $_ := set $over "authn" (dict "apiKeys" (dict "file" "/var/lib/a2a-gateway/keys.yaml")) }}
{{- end }}
{{- if .Values.keys.existingSecret }}
{{- $_ := set $over "keys" (dict "signing" (list "/etc/a2a-gateway-own-keys/signing.pem") "sealing" (list "/etc/a2a-gateway-own-keys/sealing.key")) }}
{{- end }}
{{- if .Values.redis.enabled }}
{{- $redis := mergeOverwrite (deepCopy .Values.redis.options) (dict "addresses" .Values.redis.addresses) }}
{{- if include "a2a-gateway.redisSecret" . }}
{{- $_ := set $redis "password" "${REDIS_PASSWORD}" }}
{{- end }}
{{- if .Values.redis.tlsSecret }}
{{- $_ := set $redis "tls" (dict "ca" "/etc/a2a-gateway-redis/ca.crt") }}
{{- end }}
{{- $_ := set $over "state" (dict "driver" "redis" "redis" $redis) }}
{{- end }}
{{- $under := dict "server" (dict "id" "${POD_NAME}" "timeouts" (dict "lameDuck" (include "a2a-gateway.lameDuck" .))) }}
{{- $all := mergeOverwrite $under (deepCopy .Values.config) $over }}
{{- if and (include "a2a-gateway.keysOnVolume" .) (include "a2a-gateway.several" .) }}
{{- $_ := unset $all.authn "apiKeys" }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{- /* Mistakes that a schema cannot tell. */}}
{{- define "a2a-gateway.check" -}}
{{- if and (include "a2a-gateway.several" .) (not .Values.redis.enabled) }}
{{- fail "several replicas need redis.enabled: without it each of them knows its own tasks only" }}
{{- end }}
{{- if and (include "a2a-gateway.several" .) (not .Values.keys.existingSecret) }}
{{- fail "several replicas need keys.existingSecret: with keys of their own none reads what another sealed" }}
{{- end }}
{{- if and (include "a2a-gateway.several" .) (include "a2a-gateway.keysOnVolume" .) (or .Values.config.authn.apiKeys (not (omit .Values.config.authn "apiKeys"))) }}
{{- fail "several replicas need apiKeys.existingSecret: a key that is made at one is unknown to the others" }}
{{- end }}
{{- if and (not .Values.persistence.enabled) (not .Values.keys.existingSecret) }}
{{- fail "persistence.enabled: false needs keys.existingSecret: keys that a gateway makes are gone with its pod, and what they sealed cannot be read" }}
{{- end }}
{{- $id := dig "server" "id" "" .Values.config }}
{{- if and (include "a2a-gateway.several" .) $id (not (contains "${" $id)) }}
{{- fail "config.server.id: replicas need one each; leave it out, and it is the pod's name" }}
{{- end }}
{{- if and .Values.redis.enabled (not .Values.redis.addresses) }}
{{- fail "redis.enabled needs redis.addresses" }}
{{- end }}
{{- if and .Values.tls.certManager.enabled (not .Values.tls.enabled) }}
{{- fail "tls.certManager.enabled needs tls.enabled" }}
{{- end }}
{{- if and .Values.tls.certManager.enabled (not .Values.tls.certManager.issuerRef.name) }}
{{- fail "tls.certManager.enabled needs tls.certManager.issuerRef.name" }}
{{- end }}
{{- if and (or .Values.gateway.httpRoute.enabled .Values.gateway.grpcRoute.enabled) (not .Values.gateway.parentRefs) }}
{{- fail "gateway.httpRoute and gateway.grpcRoute need gateway.parentRefs" }}
{{- end }}
{{- if and (or .Values.gateway.httpRoute.enabled .Values.gateway.grpcRoute.enabled) .Values.tls.enabled }}
{{- fail "a route ends TLS at its Gateway: set tls.enabled to false" }}
{{- end }}
{{- end }}

{{- /* How long a pod that goes takes calls before the gateway is told: where the cluster can wait. */}}
{{- define "a2a-gateway.preStop" -}}
{{- if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version }}{{ .Values.preStopSeconds | int }}{{ else }}0{{ end }}
{{- end }}

{{- /* Longer than preStop and draining take. */}}
{{- define "a2a-gateway.grace" -}}
{{- $seconds := include "a2a-gateway.drainSeconds" . }}
{{- if .Values.terminationGracePeriodSeconds }}
{{- .Values.terminationGracePeriodSeconds | int }}
{{- else if $seconds }}
{{- add (int $seconds) 10 (include "a2a-gateway.preStop" . | int) }}
{{- else }}
{{- fail (printf "terminationGracePeriodSeconds: say it, for a drain of %s" (include "a2a-gateway.drain" .)) }}
{{- end }}
{{- end }}
