import { join } from "node:path";
import { extraArgumentProblem } from "@capstan/controlplane-hosted/contract-suite";
import { describe, expect, it } from "vitest";
import { kubernetesBin, runCommand } from "../real-kubernetes/index.ts";

const PROGRAMS = {
  apiServer: "kube-apiserver",
  controllerManager: "kube-controller-manager",
  scheduler: "kube-scheduler",
  etcd: "etcd",
} as const;

/** What a program says of a flag that could lead a tenant to a file, a folder, a socket, or an open door. */
const SUSPICIOUS = /\b(files?|filename|path|folder|director(y|ies)|socket|kubeconfig|private key|pprof)\b/i;

/** Flags that speak of files and name none. */
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

/** Flags with what the program says of them. */
async function flagsOf(program: string): Promise<Map<string, string>> {
  const { stdout, stderr } = await runCommand(join(kubernetesBin(), program), ["--help"]);
  const flags = new Map<string, string>();
  let last = "";
  for (const line of `${stdout}\n${stderr}`.split("\n")) {
    const [, name, rest] = /^\s+(?:-\w, )?--([a-z0-9-]+)(.*)$/.exec(line) ?? [];
    if (name !== undefined) flags.set((last = name), rest ?? "");
    // etcd tells it in the lines below.
    else if (last !== "" && /^\s{4,}\S/.test(line)) flags.set(last, `${flags.get(last)} ${line.trim()}`);
    else last = "";
  }
  return flags;
}

describe.each(Object.entries(PROGRAMS))("spec.%s.extraArgs", (component, program) => {
  it(`reaches none of the files, sockets and doors that ${program} tells of`, async () => {
    const flags = await flagsOf(program);
    expect(flags.size).toBeGreaterThan(50);
    const open = [...flags].filter(
      ([name, text]) =>
        SUSPICIOUS.test(text) &&
        !HARMLESS.has(name) &&
        extraArgumentProblem(component as keyof typeof PROGRAMS, { name, value: "sa.key" }, []) === undefined,
    );
    expect(open).toEqual([]);
  });
});
