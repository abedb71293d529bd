{{/* The pod of both kinds. BIRD and birdfeed share the cache, the socket's directory and the group 65532. */}}
{{- define "birdfeed.pod" -}}
metadata:
  labels:
    app.kubernetes.io/name: birdfeed
    app.kubernetes.io/instance: {{ .Release.Name }}
spec:
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  priorityClassName: {{ .Values.priorityClassName }}
  serviceAccountName: {{ .Release.Name }}
  automountServiceAccountToken: {{ include "birdfeed.readsKubernetes" . }}
  terminationGracePeriodSeconds: 15
  nodeSelector: {{- toYaml .Values.nodeSelector | nindent 4 }}
  tolerations: {{- toYaml .Values.tolerations | nindent 4 }}
  securityContext:
    # For Secrets; it does nothing to a hostPath.
    fsGroup: 65532
    seccompProfile: { type: RuntimeDefault }
  initContainers:
  {{- if .Values.cache.prepare }}
    - name: prepare-cache
      image: {{ include "birdfeed.image" . }}
      imagePullPolicy: {{ .Values.imagePullPolicy }}
      command:
        - node
        - -e
        - const fs = require("node:fs"); const dir = "/var/lib/birdfeed"; if (fs.statSync(dir).uid === 0) { fs.chmodSync(dir, 0o750); fs.chownSync(dir, 65532, 65532); }
      securityContext:
        runAsUser: 0
        runAsGroup: 0
        readOnlyRootFilesystem: true
        allowPrivilegeEscalation: false
        capabilities: { drop: [ALL], add: [CHOWN] }
      volumeMounts:
        - { name: cache, mountPath: /var/lib/birdfeed }
  {{- end }}
    # BIRD does not start without its file. This one ends with 0 also from the cache, when the datastore cannot be reached.
    - name: birdfeed-once
      args: [--onetime, --wait, 10s, --bird, {{ .Values.bird.dialect }}{{ include "birdfeed.args" . }}]
      {{- include "birdfeed.container" . | nindent 6 }}
  containers:
    - name: bird
      image: {{ required "bird.image: an image with BIRD 2 or 3 is needed" .Values.bird.image }}
      imagePullPolicy: {{ .Values.imagePullPolicy }}
      command: [bird, -f, -R, -c, /var/lib/birdfeed/current/bird.conf, -s, /run/bird/bird.ctl]
      # Ends BIRD so that its peers keep their routes until it is back; TERM would have them withdrawn.
      lifecycle: { preStop: { exec: { command: [birdc, -s, /run/bird/bird.ctl, graceful, restart] } } }
      securityContext:
        runAsUser: 0
        # What makes its socket open to birdfeed, and birdfeed's files readable for it.
        runAsGroup: 65532
        readOnlyRootFilesystem: true
        allowPrivilegeEscalation: false
        capabilities: { drop: [ALL], add: [NET_ADMIN, NET_BIND_SERVICE, NET_RAW] }
      resources: {{- toYaml .Values.bird.resources | nindent 8 }}
      volumeMounts:
        - { name: cache, mountPath: /var/lib/birdfeed, readOnly: true }
        - { name: socket, mountPath: /run/bird }
    - name: birdfeed
      args: [--bird, {{ .Values.bird.dialect }}, --control-socket, /run/bird/bird.ctl, --listen, 127.0.0.1:{{ .Values.port }}{{ include "birdfeed.args" . }}]
      {{- include "birdfeed.container" . | nindent 6 }}
      # Declared so that no second pod is scheduled to the same node: it would be probed at the first one's listener.
      ports:
        - { name: status, containerPort: {{ .Values.port }}, hostPort: {{ .Values.port }}, hostIP: 127.0.0.1 }
      # The kubelet asks from the node's own network, hence the host.
      readinessProbe:
        httpGet: { host: 127.0.0.1, port: status, path: /readyz }
        periodSeconds: 5
        timeoutSeconds: 3
      livenessProbe:
        httpGet: { host: 127.0.0.1, port: status, path: /livez }
        initialDelaySeconds: 10
        periodSeconds: 20
        timeoutSeconds: 5
        failureThreshold: 3
      resources: {{- toYaml .Values.resources | nindent 8 }}
  volumes:
    - { name: cache, hostPath: { path: {{ .Values.cache.hostPath }}, type: DirectoryOrCreate } }
  {{- if .Values.socket.hostPath }}
    - { name: socket, hostPath: { path: {{ .Values.socket.hostPath }}, type: DirectoryOrCreate } }
  {{- else }}
    - { name: socket, emptyDir: {} }
  {{- end }}
  {{- if eq (include "birdfeed.etcdTls" .) "true" }}
    - { name: etcd-tls, secret: { secretName: {{ .Values.etcd.secret }}, defaultMode: 0440 } }
  {{- end }}
  {{- if .Values.nodeNameFromFile }}
    - { name: calico, hostPath: { path: /var/lib/calico, type: Directory } }
  {{- end }}
  {{- range (ternary list .Values.passwordSecrets (eq (include "birdfeed.readsKubernetes" .) "true")) }}
    - { name: password-{{ . }}, secret: { secretName: {{ . }}, defaultMode: 0440 } }
  {{- end }}
  {{- if .Values.templates }}
    - { name: templates, configMap: { name: {{ .Release.Name }}-templates } }
  {{- end }}
  {{- if .Values.confd }}
    - { name: confd, configMap: { name: {{ .Release.Name }}-confd } }
  {{- end }}
{{- end }}

{{/* What the init container and the sidecar have in common. */}}
{{- define "birdfeed.container" -}}
image: {{ include "birdfeed.image" . }}
imagePullPolicy: {{ .Values.imagePullPolicy }}
env:
  - { name: {{ if .Values.nodeNameFromFile }}CALICO_K8S_NODE_REF{{ else }}NODENAME{{ end }}, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
  - { name: DATASTORE_TYPE, value: {{ if eq .Values.datastore "etcd" }}etcdv3{{ else }}kubernetes{{ end }} }
  - { name: NAMESPACE, value: {{ .Values.secretsNamespace }} }
  {{- if eq .Values.datastore "etcd" }}
  - { name: ETCD_ENDPOINTS, value: {{ required "etcd.endpoints: where etcd is, is needed" (join "," .Values.etcd.endpoints) | quote }} }
  {{- end }}
  {{- if eq (include "birdfeed.etcdTls" .) "true" }}
  - { name: ETCD_CA_CERT_FILE, value: /etcd-tls/etcd-ca }
  - { name: ETCD_CERT_FILE, value: /etcd-tls/etcd-cert }
  - { name: ETCD_KEY_FILE, value: /etcd-tls/etcd-key }
  {{- end }}
  {{- if and .Values.passwordSecrets (eq (include "birdfeed.readsKubernetes" .) "false") }}
  - { name: BIRDFEED_SECRETS_DIR, value: /bgp-secrets }
  {{- end }}
  {{- with .Values.env }}{{ toYaml . | nindent 2 }}{{ end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: cache, mountPath: /var/lib/birdfeed }
  - { name: socket, mountPath: /run/bird }
  {{- if eq (include "birdfeed.etcdTls" .) "true" }}
  - { name: etcd-tls, mountPath: /etcd-tls, readOnly: true }
  {{- end }}
  {{- if .Values.nodeNameFromFile }}
  - { name: calico, mountPath: /var/lib/calico, readOnly: true }
  {{- end }}
  {{- range (ternary list .Values.passwordSecrets (eq (include "birdfeed.readsKubernetes" .) "true")) }}
  - { name: password-{{ . }}, mountPath: /bgp-secrets/{{ . }}, readOnly: true }
  {{- end }}
  {{- if .Values.templates }}
  - { name: templates, mountPath: /etc/birdfeed/templates, readOnly: true }
  {{- end }}
  {{- if .Values.confd }}
  - { name: confd, mountPath: /etc/birdfeed/conf.d, readOnly: true }
  {{- end }}
{{- end }}

{{- define "birdfeed.image" -}}
{{ required "image: an image built from Containerfile is needed" .Values.image }}
{{- end }}

{{- define "birdfeed.args" -}}
{{ range .Values.args }}, {{ . | quote }}{{ end }}
{{- end }}

{{- define "birdfeed.etcdTls" -}}
{{ and (eq .Values.datastore "etcd") (ne .Values.etcd.secret "") }}
{{- end }}

{{- define "birdfeed.readsKubernetes" -}}
{{ or (eq .Values.datastore "kubernetes") .Values.etcd.services }}
{{- end }}
