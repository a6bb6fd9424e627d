import { join } from "node:path";
import { parseQuantity, quantityValue } from "@capstan/apimachinery";
import { hostPort } from "@capstan/controlplane";
import type { EtcdMember } from "@capstan/etcd";
import type { Program } from "@capstan/workloads";
import type { ComponentContext } from "../../components/context.ts";
import { ETCD_FILES, etcdArguments } from "../../components/etcd.ts";
import { KUBE_APISERVER_FILES, kubeApiserverArguments } from "../../components/kube-apiserver.ts";
import {
  KUBE_CONTROLLER_MANAGER_FILES,
  kubeControllerManagerArguments,
} from "../../components/kube-controller-manager.ts";
import { KUBE_SCHEDULER_FILES, kubeSchedulerArguments } from "../../components/kube-scheduler.ts";
import { ENCRYPTION_FILE } from "../../components/settings.ts";
import { pickFiles } from "../component-files.ts";
import type { ControlPlanePlan } from "../placement.ts";

/** Name of the additional kube-apiserver during an upgrade. */
export const SUCCESSOR = "kube-apiserver-next";

/** Everything that the programs of a control plane are built from. */
export interface ProgramInput {
  plan: ControlPlanePlan;
  context: ComponentContext;
  /** Files by kubeadm's names; the serving certificate of each kube-apiserver is `PROGRAM.crt` and `.key`. */
  files: Record<string, string>;
  uid: number | undefined;
}

/** Returns the program name of a kube-apiserver replica; the first one has no number. */
export function apiserverName(index: number): string {
  return index === 0 ? "kube-apiserver" : `kube-apiserver-${index}`;
}

/** Returns the name in the serving certificate that identifies one of several kube-apiservers on a port. */
export function servingName(program: string): string {
  return `${program}.capstan.internal`;
}

/** Returns the folder name of an etcd member; the first one has no number. */
export function etcdName(index: number): string {
  return index === 0 ? "etcd" : `etcd-${index}`;
}

/** Returns the program of an etcd member; with `hadData` it does not start if its data is missing. */
export function etcdProgram(
  input: ProgramInput,
  dir: string,
  index: number,
  member: EtcdMember,
  hadData = false,
): Program {
  return program(input, etcdName(index), join(dir, "etcd"), {
    args: etcdArguments(input.context, member),
    secretFiles: pickFiles(input.files, ETCD_FILES),
    // etcd reads its certificates at every handshake.
    reloadedFiles: ["etcd/server.crt", "etcd/server.key", "etcd/peer.crt", "etcd/peer.key"],
    dataDir: true,
    ...(hadData ? { requires: "$DATA/member" } : {}),
    probe: { url: `${member.metricsUrl}/readyz` },
    ...limitsOf(input.plan.spec.etcd),
  });
}

/** Returns the program of a kube-apiserver; `port` differs from the shared port only for a successor on trial. */
export function apiserverProgram(input: ProgramInput, dir: string, name: string, port: number): Program {
  const context = { ...input.context, apiPort: port };
  const files = {
    ...pickFiles(input.files, KUBE_APISERVER_FILES),
    "apiserver.crt": input.files[`${name}.crt`] ?? "",
    "apiserver.key": input.files[`${name}.key`] ?? "",
  };
  return program(input, name, join(dir, "kube-apiserver"), {
    args: kubeApiserverArguments(context),
    secretFiles: { ...files, ...input.plan.userFiles.apiServer },
    // kube-apiserver reloads these, but not the service account keys and the CA of etcd.
    reloadedFiles: [
      ENCRYPTION_FILE,
      ...Object.keys(files).filter((file) => !file.startsWith("sa.") && file !== "etcd/ca.crt"),
    ],
    probe: {
      url: `https://${hostPort(loopbackOf(context.bindAddress), port)}/readyz`,
      servedBy: servingName(name),
      // It lists Services over its own address once and would retry after three minutes, but exits after one.
      checkedOnce: "poststarthook/start-service-ip-repair-controllers",
    },
    dataDir: true,
    ...limitsOf(input.plan.spec.apiServer),
  });
}

/** Returns the program of kube-controller-manager. */
export function controllerManagerProgram(input: ProgramInput, dir: string): Program {
  return program(input, "kube-controller-manager", join(dir, "kube-controller-manager"), {
    args: kubeControllerManagerArguments(input.context),
    secretFiles: {
      ...pickFiles(input.files, KUBE_CONTROLLER_MANAGER_FILES),
      ...input.plan.userFiles.controllerManager,
    },
    reloadedFiles: ["controller-manager.crt", "controller-manager.key"],
    probe: { url: `https://127.0.0.1:${input.context.ports.controllerManager}/healthz` },
    ...limitsOf(input.plan.spec.controllerManager),
  });
}

/** Returns the program of kube-scheduler. */
export function schedulerProgram(input: ProgramInput, dir: string): Program {
  return program(input, "kube-scheduler", join(dir, "kube-scheduler"), {
    args: kubeSchedulerArguments(input.context),
    secretFiles: { ...pickFiles(input.files, KUBE_SCHEDULER_FILES), ...input.plan.userFiles.scheduler },
    reloadedFiles: ["scheduler.crt", "scheduler.key"],
    probe: { url: `https://127.0.0.1:${input.context.ports.scheduler}/healthz` },
    ...limitsOf(input.plan.spec.scheduler),
  });
}

function program(
  input: ProgramInput,
  name: string,
  command: string,
  rest: Omit<Program, "id" | "command" | "uid">,
): Program {
  return {
    id: { owner: input.plan.owner, name },
    command,
    stopTimeoutMs: 5000,
    ...rest,
    ...(input.uid === undefined ? {} : { uid: input.uid }),
  };
}

/** Limits of a process: Go's own, soft for memory, whole cores for CPU. */
function limitsOf(
  settings: { memoryBytes?: number; resources?: { limits?: Record<string, string> } } | undefined,
): Pick<Program, "memoryBytes" | "env"> {
  const amount = (name: string): number | undefined => {
    const text = settings?.resources?.limits?.[name];
    return text === undefined ? undefined : quantityValue(parseQuantity(text));
  };
  const memory = settings?.memoryBytes ?? amount("memory");
  const cpu = amount("cpu");
  return {
    ...(memory === undefined ? {} : { memoryBytes: Math.floor(memory) }),
    ...(cpu === undefined ? {} : { env: { GOMAXPROCS: String(Math.max(1, Math.ceil(cpu))) } }),
  };
}

/** Returns the local address of a server: loopback if it listens on all addresses, else its bind address. */
export function loopbackOf(bindAddress: string): string {
  if (bindAddress === "0.0.0.0") return "127.0.0.1";
  return bindAddress === "::" ? "::1" : bindAddress;
}
