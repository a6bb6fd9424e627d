import type { ProviderDescription } from "../sdk/description.ts";
import type { Progress } from "./activity.ts";
import { hostKinds, isHostKind } from "./host-kinds.ts";
import type { ObjectNode } from "./object-node.ts";
import { isShortOfCapacity, NO_NETWORK, SILENT_KUBELET } from "./patience.ts";
import type { Cause, Link } from "./why.ts";

/** What a cause means to a person. */
export interface Remedy {
  cause: string;
  steps: string[];
}

/** What the texts about a cause need to know. */
export interface Scope {
  cluster: string;
  /** ` -n NAMESPACE` unless it is the default one. */
  flags: string;
  /** The Machine at fault, when the chain goes through one. */
  machine: string | undefined;
  /** It exceeded its deadline, or cannot resolve without action. */
  stuck: boolean;
  progress: Progress | undefined;
  /** The providers whose objects may be part of the chain. */
  providers: readonly ProviderDescription[];
}

/** Explains the causes that it matches. */
export interface RemedyRule {
  matches(cause: Cause, node: ObjectNode, providers: readonly ProviderDescription[]): boolean;
  remedy(link: Link, scope: Scope): Remedy;
}

/** For all providers. The first match counts; a cause without a match is explained by its message. */
const RULES: readonly RemedyRule[] = [
  {
    matches: ({ condition }) => condition === "Paused",
    remedy: ({ cause: { kind, name } }, { cluster, flags }) => ({
      cause: `${kind} ${name} is paused: no controller changes it until it is resumed.`,
      steps:
        kind === "Cluster"
          ? [`resume it: capstan resume ${cluster}${flags}`]
          : [
              `if its Cluster is paused, resume it: capstan resume ${cluster}${flags}`,
              `if only this object is paused: kubectl annotate ${kind.toLowerCase()} ${name}${flags} cluster.x-k8s.io/paused-`,
            ],
    }),
  },
  {
    matches: ({ condition }) => condition === "Deleting",
    remedy: ({ cause }, { cluster, flags }) => ({
      cause: `${cause.kind} ${cause.name} is being deleted${sentence(cause.message, ", waiting for: ")}`,
      steps: [`see what is left of it: capstan describe cluster ${cluster}${flags}`],
    }),
  },
  {
    matches: ({ reason }) => reason === "Hibernated",
    remedy: ({ cause }, { flags }) => ({
      cause: `The control plane ${cause.name} is hibernated: its data is kept, and nothing of the cluster runs.`,
      steps: [`wake it: capstan scale ${cause.kind.toLowerCase()}/${cause.name}${flags} --replicas 1`],
    }),
  },
  {
    matches: ({ condition, reason }, node) =>
      (condition === "RemoteConnectionProbe" && node.initialized === true) || reason === "ConnectionDown",
    remedy: ({ cause }, { cluster, flags }) => ({
      cause: `The API of the workload cluster cannot be reached, so the state of its nodes is unknown${sentence(withoutLead(cause.message), ": ")}`,
      steps: [
        "check that this machine reaches the endpoint of the control plane, and that no firewall or expired certificate is in the way",
        `check with the cluster's own kubeconfig: capstan kubeconfig ${cluster}${flags}`,
      ],
    }),
  },
  {
    matches: ({ reason }) => reason === "NotYetReported",
    remedy: ({ cause: { kind, name } }, { stuck, flags }) => ({
      cause: stuck
        ? `No controller has reported on ${kind} ${name}.`
        : `${kind} ${name} was just created: no controller has reported on it yet.`,
      steps: stuck
        ? [`check that the manager runs: capstan status`]
        : [`wait, or watch it: capstan get ${kind.toLowerCase()} ${name}${flags} --watch`],
    }),
  },
  {
    matches: ({ condition, reason, kind }) =>
      condition === "Progressing" ||
      (condition === "UpToDate" && (reason === "RollingOut" || kind === "Machine" || kind.endsWith("ControlPlane"))),
    remedy: rollout,
  },
  {
    matches: ({ reason }) => reason === "NotAllAvailable",
    remedy: ({ cause }, { cluster, flags, stuck }) => ({
      cause: `${cause.kind} ${cause.name}: ${cause.message}.`,
      steps: stuck
        ? [`see what happened: capstan events ${cluster}${flags}`]
        : [`wait, or watch it: capstan describe cluster ${cluster}${flags} --watch`],
    }),
  },
  {
    matches: ({ reason }) => reason === "AgentSilent" || reason === "HostSilent",
    remedy: ({ cause, node }, scope) => silentHost(hostBelow(node) ?? cause, scope),
  },
  {
    matches: ({ kind, message }) => kind === "Machine" && SILENT_KUBELET.test(message),
    remedy: ({ node }, scope) => silentHost(hostBelow(node), scope),
  },
  {
    matches: ({ kind, message }) => kind === "Machine" && NO_NETWORK.test(message),
    remedy: (_, { cluster, flags }) => ({
      cause: "The nodes have no pod network yet: Kubernetes leaves that to an add-on of your choice.",
      steps: [
        `install one (Cilium, Calico, Flannel, …) with the cluster's own kubeconfig: capstan kubeconfig ${cluster}${flags}`,
        "to install one into every new cluster, use a ClusterResourceSet",
      ],
    }),
  },
  {
    matches: (cause, _, providers) => isShortOfCapacity(cause, providers),
    remedy: ({ cause, node }, { cluster, flags, machine, providers }) => ({
      // The remedy in the message is the first step below.
      cause: `No host is free for machine ${machine ?? cause.name}${sentence(plain(cause.message).split(": ")[0] ?? "", ": ")}`,
      steps: [
        ...capacitySteps(cause, providerOfReason(cause, providers) ?? providerBelow(node, providers), flags),
        `or scale down: capstan scale cluster ${cluster}${flags} --replicas N`,
      ],
    }),
  },
  {
    matches: ({ reason }) => reason === "NoMemberHasRoom",
    remedy: ({ cause }, { flags }) => ({
      cause: `WorkerPool ${cause.name} has no room${sentence(cause.message.split(": ")[0] ?? "", ": ")}`,
      steps: [
        ...(/cooling down\)/.test(cause.message)
          ? [`ask members that are cooling down again: capstan retry workerpool ${cause.name}${flags}`]
          : []),
        `raise a member's max, or add a member: kubectl edit workerpool ${cause.name}${flags}`,
        "or free capacity: enrol or register another host",
        `or scale down: capstan scale workerpool ${cause.name}${flags} --replicas N`,
      ],
    }),
  },
];

/** What the last link of a chain means to a person, and what to do about it. */
export function remedyFor(link: Link, scope: Scope): Remedy {
  const { cause, node } = link;
  const { providers } = scope;
  const own = providers.flatMap(({ why }) => why?.remedies ?? []);
  const rule = [...own, ...RULES].find(({ matches }) => matches(cause, node, providers));
  if (rule !== undefined) return rule.remedy(link, scope);
  const text = plain(cause.message);
  const { cluster, flags } = scope;
  return {
    cause:
      text === "" ? `${cause.kind} ${cause.name} reports ${cause.reason}.` : `${cause.kind} ${cause.name}: ${text}`,
    steps: [
      `see all its conditions: capstan describe cluster ${cluster}${flags} --show-conditions ${cause.kind}/${cause.name}`,
      `see what happened: capstan events ${cluster}${flags}`,
    ],
  };
}

/** A group or a control plane that is being brought to its new version or template. */
function rollout({ cause, node }: Link, { cluster, flags, stuck, progress }: Scope): Remedy {
  const what = `${cause.kind} ${cause.name}${node.version === undefined ? "" : ` to ${node.version}`}`;
  const far = progress === undefined ? "" : `, ${progress.done} of ${progress.total} up to date`;
  const detail = sentence(cause.message, ": ");
  if (!stuck)
    return {
      cause: `Rolling out ${what}${far}${detail}`,
      steps: [`wait, or watch it: capstan describe cluster ${cluster}${flags} --watch`],
    };
  return {
    cause: `The rollout of ${what} has stopped${far}${detail}`,
    steps: [
      `see what the machines wait for: capstan describe cluster ${cluster}${flags}`,
      `see what happened: capstan events ${cluster}${flags}`,
      cause.kind.endsWith("ControlPlane")
        ? `or go back to the version that serves: kubectl edit ${cause.kind.toLowerCase()} ${cause.name}${flags}`
        : `or go back to the version before: kubectl edit ${cause.kind.toLowerCase()} ${cause.name}${flags}`,
    ],
  };
}

function silentHost(host: HostName | undefined, { cluster, flags, machine, providers }: Scope): Remedy {
  const reports = hostKinds(providers).find(({ kind }) => kind === host?.kind)?.reports;
  const who = host === undefined ? `The host of machine ${machine ?? "?"}` : `Host ${host.name}`;
  return {
    cause: `${who} has gone silent: it is powered off, cut off from the network, or its kubelet has stopped.`,
    steps: [
      reports !== undefined
        ? `see when it last reported: ${reports}${flags}`
        : host === undefined
          ? `see what its machine is made of: capstan describe cluster ${cluster}${flags}`
          : `check whether it is powered on: kubectl get ${host.kind.toLowerCase()} ${host.name}${flags}`,
      "power it on or reconnect it; it recovers by itself",
      ...(machine === undefined
        ? []
        : [`or replace the machine on another host: kubectl delete machine ${machine}${flags}`]),
    ],
  };
}

type HostName = Pick<ObjectNode, "kind" | "name">;

function hostBelow(node: ObjectNode): HostName | undefined {
  if (isHostKind(node.kind)) return node;
  for (const child of node.children) {
    const found = hostBelow(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The provider that alone uses a reason. */
function providerOfReason(
  { reason }: Cause,
  providers: readonly ProviderDescription[],
): ProviderDescription | undefined {
  return providers.find(({ why }) => why?.capacityReasons?.includes(reason) === true);
}

/** The provider of an infrastructure machine that the object is or has. */
function providerBelow(node: ObjectNode, providers: readonly ProviderDescription[]): ProviderDescription | undefined {
  const own = providers.find(({ workers }) => workers?.templateKind === `${node.kind}Template`);
  if (own !== undefined) return own;
  for (const child of node.children) {
    const found = providerBelow(child, providers);
    if (found !== undefined) return found;
  }
  return undefined;
}

function capacitySteps({ message }: Cause, provider: ProviderDescription | undefined, flags: string): string[] {
  const host = provider?.hosts?.[0]?.kind.toLowerCase();
  return [
    ...(/\d+ in error/.test(message) && host !== undefined
      ? [`see what is wrong with a host in error: capstan why ${host}/NAME${flags}`]
      : []),
    provider?.why?.capacityCure ?? "free a machine of its provider, or give it more capacity",
  ];
}

/** Removes the lead of a message that the sentence already contains. */
function withoutLead(message: string): string {
  return message.replace(/^Cannot reach the workload cluster('s API)?: /, "");
}

/** Makes a message the rest of a sentence after `lead`; only the full stop when there is none. */
export function sentence(message: string, lead: string): string {
  const text = plain(message);
  if (text === "") return ".";
  return `${lead}${text}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** A message of several lines and stars in one line. */
function plain(message: string): string {
  return message
    .split("\n")
    .map((line) => line.replace(/^[\s*]+/, "").trim())
    .filter((line) => line !== "")
    .join("; ")
    .replaceAll(":; ", ": ");
}
