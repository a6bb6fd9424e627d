/** Files of every type that is accepted, in the ways in which people write YAML. */
export const VALID_FILES: readonly { type: string; text: string }[] = [
  {
    type: "kubeconfig",
    text: `apiVersion: v1
kind: Config
clusters:
- name: hook
  cluster:
    server: https://hook.example:8443/audit
    certificate-authority-data: LS0tLS1CRUdJTg==
users:
- name: kube-apiserver
  user:
    client-certificate-data: QUJD
    client-key-data: >-
      QUJD
      REVG
    token: "a b"
contexts:
- name: hook
  context: {cluster: hook, user: kube-apiserver}
current-context: hook
`,
  },
  {
    type: "kubeconfig",
    text: JSON.stringify({
      kind: "Config",
      apiVersion: "v1",
      clusters: [{ name: "c", cluster: { server: "https://c", "insecure-skip-tls-verify": false } }],
      users: [{ name: "u", user: { token: "t", "as-user-extra": { "example.org/key": ["a", "é"] } } }],
    }),
  },
  {
    type: "audit policy",
    text: `# Log what changes.
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages:
  - RequestReceived   # too early
rules:
  - level: None
    users: ["system:kube-proxy"]
    verbs: [ 'watch', list ]
    resources:
      - group: ""
        resources: [endpoints, services, pods/exec]
  - level: Metadata
    nonResourceURLs:
    - /healthz*
    - "/version"
  - level: RequestResponse
    omitManagedFields: true
    namespaces: [kube-system, a b, it's]
`,
  },
  {
    type: "admission configuration",
    text: `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, enforce-version: latest, audit: "restricted"}
    exemptions:
      namespaces: [kube-system]
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits:
    - type: Namespace
      qps: 50
      burst: 100
      cacheSize: 2000
- name: ImagePolicyWebhook
  configuration:
    imagePolicy: {kubeConfigFile: hook.conf, allowTTL: 50, denyTTL: 50, retryBackoff: 500, defaultAllow: false}
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig:
      clusterDefaultNodeSelector: env=development
      kube-system: "a=b"
`,
  },
  {
    type: "authentication configuration",
    text: `---
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: https://login.example.org
    audiences: [kubernetes]
    certificateAuthority: |
      -----BEGIN CERTIFICATE-----
      MIIB
      -----END CERTIFICATE-----
  claimMappings:
    username:
      expression: 'claims.email.split("@")[0]'
    groups: {claim: groups, prefix: "oidc:"}
  userValidationRules:
  - expression: >
      !user.username.startsWith('system:')
      && true

      && 1 < 2
    message: username cannot use
      the reserved prefix
anonymous:
  enabled: true
  conditions: [{path: /livez}, {path: /readyz}]
`,
  },
  {
    type: "tracing configuration",
    text: "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: collector:4317\nsamplingRatePerMillion: 100\n",
  },
  {
    type: "scheduler configuration",
    text: `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 50
clientConnection:
  qps: 50.5
profiles:
  - schedulerName: packing
    plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 5}]}}
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources:
              - name: cpu
                weight: 1
extenders:
  - urlPrefix: "https://extender.example/\\u0073cheduler"
    httpTimeout: 5s
    enableHTTPS: true
`,
  },
  {
    type: "leader migration configuration",
    text: `kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/v1
leaderName: migration
controllerLeaders:
  - name: route
    component: "*"
`,
  },
  {
    type: "map of metric labels",
    text: "metric1,label1: \"v1,v2\"\nmetric2,label2: v1\n\"metric 3,label\": 'it''s'\nlong: a\n  b\n\n  c\n",
  },
  {
    type: "pod",
    text: `apiVersion: v1
kind: Pod
metadata: {generateName: pv-recycler-, namespace: default}
spec:
  restartPolicy: Never
  activeDeadlineSeconds: 60
  containers:
  - name: pv-recycler
    image: registry.k8s.io/debian-base:v2.0.0
    command:
    - /bin/sh
    args:
    - -c
    - |
      test -e /scrub && rm -rf /scrub/..?* \\
        /scrub/.[!.]*  # all

      test -z "$(ls -A /scrub)" || exit 1
    volumeMounts: [{name: vol, mountPath: /scrub, readOnly: false}]
    resources: {limits: {cpu: 0.5, memory: 1Gi}, requests: {cpu: ~}}
`,
  },
];
