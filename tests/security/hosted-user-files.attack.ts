import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../e2e/harness/index.ts";
import { HostedPlanes } from "../e2e/hosted-planes.ts";
import { ATTACKS } from "./user-file-attacks.ts";

/**
 * With a real kube-apiserver on the management host: a tenant's file with a command that only go-yaml sees must not run it. kube-apiserver
 * asks the audit webhook about its first request, and runs the command to get a token for that.
 */
let planes: HostedPlanes;

beforeAll(async () => {
  planes = await HostedPlanes.start();
});

afterAll(async () => {
  await planes?.close();
});

const POLICY = JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] });

const HOOK = `# Where events go.
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`;
const ADMISSION = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, enforce-version: latest}
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits: [{type: Server, qps: 5000, burst: 5000}]
- name: ImagePolicyWebhook
  configuration:
    imagePolicy: {kubeConfigFile: hook.conf, allowTTL: 50, denyTTL: 50, retryBackoff: 500, defaultAllow: true}
- name: ValidatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: hook.conf
`;
const SCHEDULER = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 50
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
`;

test("a command in a comment does not run on the management host", async () => {
  // In kube-apiserver's data: it sees another /tmp than we do, and may write nowhere else.
  const marker = join(planes.folder("tenant"), "kube-apiserver/data/marker");
  const { flag, text } = ATTACKS["a command after NEL"];
  // In base64, as kubectl would read the line ends too.
  const data = { file: Buffer.from(text.replaceAll("$MARKER", "/proc/self/cwd/data/marker")).toString("base64") };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "hook", namespace: "default" }, data };
  await planes.capstan.kubectlWithInput(JSON.stringify(secret), "apply", "-f", "-");
  await planes.create("tenant", {
    apiServer: {
      files: [
        { name: "hook.conf", contentFrom: { secret: { name: "hook", key: "file" } } },
        { name: "policy.yaml", content: POLICY },
      ],
      extraArgs: [
        { name: flag, value: "$FILES/hook.conf" },
        { name: "audit-webhook-mode", value: "blocking" },
        { name: "audit-policy-file", value: "$FILES/policy.yaml" },
      ],
    },
  });
  const answer = await eventually(
    "a refusal, or the command's file",
    async () => {
      if (existsSync(marker)) return "the command ran";
      const told = await planes.condition("tenant", "Available");
      if (!told.includes("FilesNotAvailable")) throw new Error(told);
      return told;
    },
    { timeout: 120_000 },
  );
  expect(existsSync(marker), "the command's file").toBe(false);
  expect(answer).toContain("hook.conf has the character U+0085");
  expect(existsSync(join(planes.folder("tenant"), "kube-apiserver/files/hook.conf"))).toBe(false);
}, 180_000);

test("the components read what is written of plain files", async () => {
  const config = (kind: string, rest: object): string =>
    JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind, ...rest });
  await planes.create("plain", {
    apiServer: {
      files: [
        { name: "hook.conf", content: HOOK },
        { name: "policy.yaml", content: POLICY },
        { name: "admission.yaml", content: ADMISSION },
        {
          name: "authentication.yaml",
          content: config("AuthenticationConfiguration", { anonymous: { enabled: true } }),
        },
        { name: "tracing.yaml", content: config("TracingConfiguration", { endpoint: "127.0.0.1:4317" }) },
        { name: "labels.yaml", content: "apiserver_request_total,verb: GET,LIST\n" },
      ],
      audit: { policyFile: "policy.yaml" },
      admission: { enable: ["ImagePolicyWebhook", "EventRateLimit"], configFile: "admission.yaml" },
      extraArgs: [
        { name: "audit-webhook-config-file", value: "$FILES/hook.conf" },
        { name: "authentication-config", value: "$FILES/authentication.yaml" },
        { name: "tracing-config-file", value: "$FILES/tracing.yaml" },
        { name: "allow-metric-labels-manifest", value: "$FILES/labels.yaml" },
      ],
    },
    scheduler: {
      files: [{ name: "config.yaml", content: SCHEDULER }],
      extraArgs: [{ name: "config", value: "$FILES/config.yaml" }],
    },
  });
  await planes.told("plain", "Available", /^True/);
  await planes.told("plain", "ControlPlaneComponentsHealthy", /^True/);
  await planes.remove("plain");
}, 240_000);
