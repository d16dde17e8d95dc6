{{- define "vitrine.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "vitrine.selector" -}}
app.kubernetes.io/name: vitrine
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "vitrine.labels" -}}
{{ include "vitrine.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end -}}

{{- define "vitrine.secret" -}}
{{- .Values.secret.existing | default (include "vitrine.name" .) -}}
{{- end -}}

{{- define "vitrine.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "vitrine.user" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "vitrine.confinement" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "vitrine.environment" -}}
envFrom:
  - secretRef:
      name: {{ include "vitrine.secret" . }}
env:
  - name: VITRINE_DRAIN_SECONDS
    value: {{ .Values.drainSeconds | quote }}
  - name: VITRINE_STOP_SECONDS
    value: {{ .Values.stopSeconds | quote }}
  {{- if .Values.ingress.enabled }}
  - name: VITRINE_BASE_URL
    value: {{ printf "https://%s" .Values.ingress.host | quote }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- end -}}

{{- define "vitrine.mounts" -}}
volumeMounts:
  - name: library
    mountPath: /var/lib/vitrine
  - name: temporary
    mountPath: /tmp
{{- end -}}

{{- define "vitrine.volumes" -}}
volumes:
  - name: library
    persistentVolumeClaim:
      claimName: {{ .Values.persistence.existingClaim | default (include "vitrine.name" .) }}
  - name: temporary
    emptyDir: {}
{{- end -}}
