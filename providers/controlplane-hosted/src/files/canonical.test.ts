import { expect, test } from "vitest";
import { FILE_FLAGS } from "../components/file-flags.ts";
import { VALID_FILES } from "../testing/yaml-corpus-files.ts";
import { canonicalFiles } from "./canonical.ts";
import { FILE_TYPES } from "./file-types.ts";

const FOLDER = "/proc/self/cwd/files";
const CONFIG = "kind: Config\n";

/** What is written for a file of a type, or why it is rejected; `hook.conf` and `other.yaml` are in the same folder. */
function write(type: string, text: string, others: Record<string, string> = {}): string {
  const read = canonicalFiles({ "hook.conf": CONFIG, ...others, "a.yaml": text }, [{ name: "a.yaml", type }], FOLDER);
  return "problem" in read ? read.problem : (read.files["a.yaml"] ?? "");
}

const user = (fields: string): string => `kind: Config\nusers: [{name: u, user: {${fields}}}]\n`;
const cluster = (fields: string): string => `kind: Config\nclusters: [{name: c, cluster: {${fields}}}]\n`;
const admission = (plugin: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- ${plugin}\n`;
const hook = (path: string): string =>
  admission(`{name: ImagePolicyWebhook, configuration: {imagePolicy: {kubeConfigFile: ${path}}}}`);
const scheduler = (fields: string): string =>
  `apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n${fields}\n`;
const tracing = (endpoint: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: "${endpoint}"\n`;
const pem = (label: string, body: string): string => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;

test("every flag that may name a file has a type", () => {
  for (const flags of Object.values(FILE_FLAGS))
    for (const type of Object.values(flags)) expect(FILE_TYPES[type], type).toBeDefined();
});

test.each(VALID_FILES)("a plain $type is written as JSON", ({ type, text }) => {
  const written = write(type, text);
  expect(() => JSON.parse(written) as unknown, written).not.toThrow();
  // The output is accepted as input, and has the same content.
  expect(write(type, written)).toBe(written);
});

test.each([
  ["kubeconfig", user("exec: {command: /bin/sh}"), "users[0].user.exec, which would run a command"],
  ["kubeconfig", user("exec: null"), "users[0].user.exec, which would run a command"],
  ["kubeconfig", user("EXEC: {command: id}"), "users[0].user.EXEC, which is not an accepted field"],
  ["kubeconfig", user('"\\x65xec": {command: id}'), "users[0].user.exec, which would run a command"],
  ["kubeconfig", user("auth-provider: {name: gcp}"), "auth-provider, which would run a command"],
  ["kubeconfig", user("tokenFile: /run/other/token"), "write the token into token instead"],
  ["kubeconfig", user("client-key: hook.key"), "into client-key-data instead"],
  ["kubeconfig", user("client-certificate: a"), "into client-certificate-data instead"],
  ["kubeconfig", user("client-key-data: '-----BEGIN'"), "client-key-data, which must be base64"],
  ["kubeconfig", cluster("certificate-authority: /etc/shadow"), "into certificate-authority-data instead"],
  ["kubeconfig", cluster("insecure-skip-tls-verify: true"), "would disable the verification of the server"],
  ["kubeconfig", cluster("server: 'unix:///run/docker.sock'"), "must be an address that begins with https://"],
  ["kubeconfig", cluster("server: 'http://hooks.example.org'"), "must be an address that begins with https://"],
  ["kubeconfig", "kind: Policy\n", "kind, which must be one of Config"],
  ["kubeconfig", "{{{ a: ]", "cannot be read as YAML"],
  ["audit policy", CONFIG, "kind, which must be Policy"],
  ["audit policy", "kind: Policy\napiVersion: v1\n", "apiVersion, which must be one of audit.k8s.io/v1"],
  ["admission configuration", hook("/root/.kube/config"), "kubeConfigFile, which is not one of files"],
  ["admission configuration", hook("../hook.conf"), "kubeConfigFile, which is not one of files"],
  ["admission configuration", hook("/etc/hook.conf"), "kubeConfigFile, which is not one of files"],
  ["admission configuration", hook("scheduler.conf"), "kubeConfigFile, which is not one of files"],
  ["admission configuration", admission("{name: PodSecurity, path: sa.key}"), "path, which is not one of files"],
  [
    "admission configuration",
    admission("{name: Unknown, configuration: {}}"),
    "name, which must be one of PodSecurity",
  ],
  ["admission configuration", "imagePolicy: {kubeConfigFile: /etc/x}\n", "kind, which must be AdmissionConfiguration"],
  ["admission configuration", hook("x").replace("kubeConfigFile", "KubeConfigFile"), "is not an accepted field"],
  ["scheduler configuration", scheduler("clientConnection: {kubeconfig: /x}"), "must be scheduler.conf"],
  [
    "scheduler configuration",
    scheduler("extenders: [{tlsConfig: {keyFile: /x}}]"),
    "would have the scheduler read a file",
  ],
  ["scheduler configuration", scheduler("metricsBindAddress: 0.0.0.0:1"), "belongs to the placement"],
  [
    "scheduler configuration",
    scheduler("extenders: [{tlsConfig: {insecure: true}}]"),
    "would disable the verification",
  ],
  [
    "scheduler configuration",
    scheduler("profiles: [{pluginConfig: [{name: Mine}]}]"),
    "other plugins take no arguments",
  ],
  ["tracing configuration", tracing("unix:///run/docker.sock"), "endpoint, which must be HOST:PORT"],
  ["tracing configuration", tracing("unix:4317"), "endpoint, which must be HOST:PORT"],
  ["tracing configuration", tracing("UNIX:4317"), "endpoint, which must be HOST:PORT"],
  ["authorization policy", '{"kind":"Policy"}', "line 1.apiVersion"],
  ["certificates", pem("PRIVATE KEY", "QUJD"), "has a PRIVATE KEY, and only CERTIFICATE is accepted here"],
  ["certificates", "exec: {}\n", "has no certificate in PEM"],
  ["certificates", "-----BEGIN CERTIFICATE-----\nQUJD\n", "has a CERTIFICATE without its END line"],
  ["certificates", pem("CERTIFICATE", "users: x"), "is not base64"],
  ["unreferenced file", "users: []\n", "is not referenced by a flag and its kind is none of"],
  ["unreferenced file", "kind: EncryptionConfiguration\n", "use spec.apiServer.encryption instead"],
  ["unreferenced file", "kind: toString\n", "is not referenced by a flag"],
  ["audit policy", `# ${"x".repeat(70_000)}`, "is longer than 65536 characters"],
])("rejects %s: %j", (type, text, problem) => {
  expect(write(type, text)).toContain(problem);
});

test("a referenced file must have the expected type, however it is spelled, and gets the path that the component sees", () => {
  for (const path of ["hook.conf", "./hook.conf", "$FILES/hook.conf", "/etc/kubernetes/pki/hook.conf"])
    expect(write("admission configuration", hook(path))).toContain(`"kubeConfigFile": "${FOLDER}/hook.conf"`);
  const bad = { "hook.conf": "kind: Config\nusers: [{user: {exec: {command: id}}}]\n" };
  expect(write("admission configuration", hook("hook.conf"), bad)).toMatch(/^hook\.conf has users\[0\]\.user\.exec/);
  const policy = { "hook.conf": "kind: Policy\napiVersion: audit.k8s.io/v1\n" };
  expect(write("admission configuration", hook("hook.conf"), policy)).toMatch(/^hook\.conf has kind/);
});

test("treats the file of a plugin like inline configuration", () => {
  const at = admission("{name: EventRateLimit, path: limits.yaml}");
  const limits = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits: []\n";
  expect(write("admission configuration", at, { "limits.yaml": limits })).toContain('"path": "limits.yaml"');
  expect(write("admission configuration", at, { "limits.yaml": "kind: Config\n" })).toMatch(/^limits\.yaml has kind/);
});

test("rejects a file that is used as two types", () => {
  const named = ["kubeconfig", "audit policy"].map((type) => ({ name: "a.yaml", type }));
  expect(canonicalFiles({ "a.yaml": CONFIG }, named, FOLDER)).toEqual({
    problem: "a.yaml is used as kubeconfig and as audit policy; use two files",
  });
});

test("writes only the PEM blocks of certificates and keys", () => {
  const key = pem("EC PRIVATE KEY", "QUJD");
  const text = `# exec: x\r\nusers: []\n  -----BEGIN CERTIFICATE-----\r\nQUJD\r\nREVG\n-----END CERTIFICATE-----\n${key}`;
  expect(write("unreferenced file", text)).toBe(pem("CERTIFICATE", "QUJDREVG") + key);
});

test("keeps the rules of an authorization policy on their lines", () => {
  const rule = (name: string): string =>
    `{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "${name}", "readonly": true}}`;
  expect(write("authorization policy", `# all\n${rule("a")}\r\n\n${rule("b")}`)).toBe(
    ["a", "b"].map((name) => `${JSON.stringify(JSON.parse(rule(name)))}\n`).join(""),
  );
});

test("adds the connection to its own API to the scheduler's configuration", () => {
  expect(JSON.parse(write("scheduler configuration", scheduler("clientConnection: {qps: 5}")))).toMatchObject({
    clientConnection: { qps: 5, kubeconfig: `${FOLDER}/scheduler.conf` },
  });
});

test("does not repeat a value that may be a misplaced secret", () => {
  for (const text of [user("client-key: swordfish"), 'exec: "a" swordfish: [', user("client-key-data: sword-fish")])
    expect(write("kubeconfig", text)).not.toMatch(/sword-?fish/);
});
