import { expect, test } from "vitest";
import { fileContentProblem } from "./file-contents.ts";

const user = (fields: string): string => `kind: Config\nusers: [{name: u, user: {${fields}}}]\n`;

test.each([
  ["a command", user("exec: {command: /bin/sh}"), "has exec, which would run a command"],
  ["a command in JSON", JSON.stringify({ users: [{ user: { exec: { command: "id" } } }] }), "has exec"],
  ["a command before a second one of that name", "user:\n  exec: {command: id}\n  exec: null\n", "has exec"],
  ["a command in a later document", `kind: Policy\n---\n${user("exec: {command: id}")}`, "has exec"],
  ["a command by another's name", "k: &k exec\nuser:\n  *k : {command: id}\n", "has exec"],
  ["a command in disguise", 'user: {"\\x65xec": {command: id}}', "has exec"],
  ["a command in base64", "user:\n  !!binary ZXhlYw==: {command: id}\n", "has exec"],
  ["a command of a plugin", user("auth-provider: {name: gcp}"), "has auth-provider"],
  ["a token of somebody else", user("tokenFile: /run/other/token"), "has a tokenFile that is not one of files"],
  ["its own key", user("client-key: sa.key"), "has a client-key that"],
  ["a file by an anchor", `a: &a /etc/shadow\nuser: {client-certificate: *a}`, "has a client-certificate that"],
  ["a way up", user("client-key: ./../x"), "has a client-key that"],
  ["another file of the same name", user("client-key: /etc/hook.key"), "has a client-key that"],
  ["a file elsewhere", "cluster: {certificate-authority: /etc/shadow}", "has a certificate-authority that"],
  ["a kubeconfig elsewhere", "imagePolicy: {kubeconfigfile: /root/.kube/config}", "has a kubeconfigfile that"],
  ["a kubeconfig of the scheduler", "clientConnection: {kubeconfig: scheduler.conf}", "has a kubeconfig that"],
  ["a plugin's file", "kind: AdmissionConfiguration\nplugins: [{name: P, path: sa.key}]", "has a path that"],
  ["a command over two lines", 'user: {"ex\\\n  ec": {command: id}}', "has exec"],
  ["what is too long to be read", "- {path: x}\n".repeat(3000), "is longer than 16384 characters"],
  ["nesting without end", `exec: ${"[".repeat(2000)}`, "cannot be read as YAML"],
  ["what is YAML to others", 'a: "\nuser:\n  exec: {command: id}\n', "cannot be read as YAML"],
])("%s is refused", (_name, text, problem) => {
  expect(fileContentProblem(text, ["hook.conf", "hook.key"])).toContain(problem);
});

test.each([
  ["nothing", ""],
  ["files that come with it", user("client-key: hook.key, client-certificate: /proc/self/cwd/files/hook.key")],
  ["what is written out", user("client-key-data: eA==, token: abc")],
  ["no command", user("exec: null, tokenFile: ''")],
  ["an audit policy", "kind: Policy\nrules: [{level: None, resources: [{group: '', resources: [pods/exec]}]}]"],
  ["a certificate", "# exec\n-----BEGIN CERTIFICATE-----\nMIIB: x\n-----END CERTIFICATE-----\n"],
  ["no YAML", "{{{ a: ]"],
  ["a long bundle", "-----BEGIN CERTIFICATE-----\nMIIBexec\n-----END CERTIFICATE-----\n".repeat(2000)],
])("%s is fine", (_name, text) => {
  expect(fileContentProblem(text, ["hook.conf", "hook.key"])).toBeUndefined();
});

test("aliases that multiply cost nothing", () => {
  const levels = Array.from({ length: 30 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`);
  expect(fileContentProblem(["a0: &a0 [x]", ...levels].join("\n"), [])).toBeUndefined();
});

test("what may be a secret in the wrong place is not repeated", () => {
  expect(fileContentProblem(user("client-key: swordfish"), [])).not.toContain("swordfish");
  expect(fileContentProblem('exec: "a" swordfish: [', [])).not.toContain("swordfish");
});
