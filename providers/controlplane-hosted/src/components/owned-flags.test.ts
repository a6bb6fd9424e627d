import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clusterNetwork } from "@capstan/controlplane";
import type { EtcdMember } from "@capstan/etcd";
import { describe, expect, test } from "vitest";
import type { ComponentContext } from "./context.ts";
import { etcdArguments } from "./etcd.ts";
import { FILE_FLAGS } from "./file-flags.ts";
import { kubeApiserverArguments } from "./kube-apiserver.ts";
import { kubeControllerManagerArguments } from "./kube-controller-manager.ts";
import { kubeSchedulerArguments } from "./kube-scheduler.ts";
import { extraArgumentProblem } from "./owned-flags.ts";

/** Recorded by tools/record-flags: all flags of the programs, including hidden ones. */
const RECORDED = new URL("../../testdata/flags/", import.meta.url);
type Flags = Record<string, { usage: string; hidden?: boolean }>;

const COMPONENTS = {
  "kube-apiserver": "apiServer",
  "kube-controller-manager": "controllerManager",
  "kube-scheduler": "scheduler",
  etcd: "etcd",
} as const;
type Program = keyof typeof COMPONENTS;

const recordings = readdirSync(RECORDED)
  .toSorted()
  .flatMap((file) => {
    const programs = JSON.parse(readFileSync(new URL(file, RECORDED), "utf8")) as Record<Program, Flags>;
    const version = file.replace(/\.json$/, "");
    return (Object.entries(programs) as [Program, Flags][]).map(([program, flags]) => ({ version, program, flags }));
  });

/** Help texts of flags that could give a tenant access to a file, a folder, a socket, or an unauthenticated port. */
const SUSPICIOUS =
  /\b(files?|filename|path|folder|director(y|ies)|socket|kubeconfig|private key|pprof|output targets|logs handler)\b/i;

/** Flags whose help mentions files but that refer to none. */
const HARMLESS = new Set([
  "audit-log-compress",
  "audit-log-maxage",
  "audit-log-maxbackup",
  "audit-log-maxsize",
  "encryption-provider-config-automatic-reload",
  "contention-profiling",
  "profiling",
  "vmodule",
  "authorization-always-allow-paths",
  "authentication-skip-lookup",
  "enable-leader-migration",
  "kube-api-burst",
  "kube-api-content-type",
  "kube-api-qps",
  "requestheader-allowed-names",
  "enable-log-rotation",
  "log-rotation-config-json",
  "max-snapshots",
  "max-wals",
]);

const member: EtcdMember = {
  name: "etcd-0",
  clientUrl: "https://127.0.0.1:1",
  peerUrl: "https://127.0.0.1:2",
  metricsUrl: "http://127.0.0.1:3",
  joins: true,
};

/** Every flag that the provider sets itself. */
function ownFlags(program: Program, version: string): string[] {
  const context: ComponentContext = {
    clusterName: "c1",
    version,
    network: clusterNetwork(undefined),
    spec: { version, etcd: { quotaBytes: 1 }, apiServer: { featureGates: { A: true } } },
    endpoint: { host: "10.89.0.1", port: 6443 },
    bindAddress: "10.89.0.1",
    apiPort: 6443,
    ports: { controllerManager: 4, scheduler: 5 },
    etcd: [member],
    leaderElect: true,
    drainSeconds: 5,
    egressSelectorFile: "$FILES/egress.yaml",
    encrypted: true,
  };
  const args = {
    "kube-apiserver": () => kubeApiserverArguments(context),
    "kube-controller-manager": () => kubeControllerManagerArguments(context),
    "kube-scheduler": () => kubeSchedulerArguments(context),
    etcd: () => etcdArguments(context, member),
  }[program]();
  return args.map((argument) => /^--([^=]+)/.exec(argument)?.[1] ?? argument);
}

test.each([
  ["scheduler", { name: "write_config_to", value: "x" }],
  ["apiServer", { name: "etcd_servers", value: "https://x" }],
  ["apiServer", { name: "authorization_mode", value: "AlwaysAllow" }],
  ["apiServer", { name: "audit_policy_file", value: "sa.key" }],
] as const)("%s: treats a flag with underscores as the same flag: %o", (component, argument) => {
  expect(extraArgumentProblem(component, argument, [])).toBeDefined();
});

test.each([
  ["apiServer", { name: "authorization-mode", value: 'Node,RBAC,"AlwaysAllow"' }],
  ["apiServer", { name: "authorization-mode", value: 'Node,RBAC,"Always""Allow"' }],
  ["apiServer", { name: "authorization-mode" }],
  ["apiServer", { name: "cors-allowed-origins", value: '"/etc/shadow"' }],
  ["etcd", { name: "distributed-tracing-address", value: "unix-abstract:x" }],
  ["etcd", { name: "distributed-tracing-address", value: "UNIX:x" }],
] as const)("%s: rejects quoted and differently spelled values: %o", (component, argument) => {
  expect(extraArgumentProblem(component, argument, [])).toBeDefined();
});

test("has a recording of every version that can be built", () => {
  const modules = fileURLToPath(new URL("../../../../tools/kubernetes/", import.meta.url));
  const versions = readdirSync(modules)
    .flatMap((folder) => (/^(v\d|etcd)/.test(folder) ? [readFileSync(`${modules}${folder}/go.mod`, "utf8")] : []))
    .map((text) => {
      const etcd = /go\.etcd\.io\/etcd\/server\/v3 (v\S+)/.exec(text)?.[1];
      return /k8s\.io\/kubernetes (v\S+)/.exec(text)?.[1] ?? `etcd-${etcd}`;
    });
  expect([...new Set(recordings.map(({ version }) => version))].toSorted()).toEqual(versions.toSorted());
});

describe.each(recordings)("$program of $version", ({ program, version, flags }) => {
  const component = COMPONENTS[program];

  test("extraArgs give access to none of its files, sockets and unauthenticated ports", () => {
    expect(Object.keys(flags).length).toBeGreaterThan(50);
    const open = Object.entries(flags).filter(
      ([name, { usage }]) =>
        SUSPICIOUS.test(usage) &&
        !HARMLESS.has(name) &&
        extraArgumentProblem(component, { name, value: "sa.key" }, []) === undefined,
    );
    expect(open).toEqual([]);
  });

  test("only flags with a known file type can refer to files", () => {
    const named = Object.keys(flags).filter(
      (name) => extraArgumentProblem(component, { name, value: "$FILES/a" }, ["a"]) === undefined,
    );
    const typed = component === "etcd" ? [] : Object.keys(FILE_FLAGS[component]);
    expect(named.toSorted()).toEqual(typed.toSorted());
  });

  test("supports every flag that the provider sets", () => {
    const kubernetes = version.startsWith("v") ? version : "v1.37.1";
    const unknown = ownFlags(program, kubernetes).filter((name) => flags[name] === undefined);
    expect(unknown).toEqual([]);
  });
});
