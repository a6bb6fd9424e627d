import type { Cause, Link, ObjectNode } from "./why.ts";

/** What a cause means to a person. */
export interface Remedy {
  cause: string;
  steps: string[];
}

/** Words that commands of this cluster need. */
export interface Scope {
  cluster: string;
  /** ` -n NAMESPACE` unless it is the default one. */
  flags: string;
  /** The Machine at fault, when the chain goes through one. */
  machine: string | undefined;
}

interface Rule {
  matches(cause: Cause, node: ObjectNode): boolean;
  remedy(link: Link, scope: Scope): Remedy;
}

const SILENT_KUBELET = /kubelet stopped posting|stopped posting node status/i;
const NO_NETWORK = /cni|network plugin|NetworkReady=false|NetworkPluginNotReady/i;

/** The first that fits is taken; what none fits explains itself by its message. */
const RULES: readonly Rule[] = [
  {
    matches: ({ condition }) => condition === "Paused",
    remedy: ({ cause: { kind, name } }, { cluster, flags }) => ({
      cause: `${kind} ${name} is paused: nothing works on it until it is resumed.`,
      steps:
        kind === "Cluster"
          ? [`go on: capstan resume ${cluster}${flags}`]
          : [
              `if its Cluster is paused, resume it: capstan resume ${cluster}${flags}`,
              `if only it is: kubectl annotate ${kind.toLowerCase()} ${name}${flags} cluster.x-k8s.io/paused-`,
            ],
    }),
  },
  {
    matches: ({ condition }) => condition === "Deleting",
    remedy: ({ cause }, { cluster, flags }) => ({
      cause: `${cause.kind} ${cause.name} is being deleted${sentence(cause.message, " and waits: ")}`,
      steps: [`see what is left of it: capstan describe cluster ${cluster}${flags}`],
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
        "for every new cluster at once use a ClusterResourceSet",
      ],
    }),
  },
  {
    // The second is what Metal3 calls it.
    matches: ({ reason }) => reason === "InsufficientCapacity" || reason === "AssociateBareMetalHostFailed",
    remedy: ({ cause, node }, { cluster, flags, machine }) => ({
      // The cure in the message is the first step below.
      cause: `No host is free for machine ${machine ?? cause.name}${sentence(plain(cause.message).split(": ")[0] ?? "", ": ")}`,
      steps: [
        ...(/\d+ in error/.test(cause.message)
          ? [`see what is wrong with a host in error: capstan why baremetalhost/NAME${flags}`]
          : []),
        ...(kindBelow(node, "Metal3Machine")
          ? ["register another bare-metal host (a BareMetalHost), or free one"]
          : ["enrol another host of your own: capstan host add NAME"]),
        `or want fewer machines: capstan scale cluster ${cluster}${flags} --replicas N`,
      ],
    }),
  },
  {
    matches: ({ reason }) => reason === "BinariesMissing",
    remedy: ({ cause }) => ({
      cause: `The Kubernetes programs of the control plane are not on this machine${sentence(cause.message, ": ")}`,
      steps: ["download them: capstan kubernetes install VERSION"],
    }),
  },
  {
    matches: ({ reason, kind }) =>
      kind === "HostedControlPlane" && /^(ComponentsNotReady|NotReady|UpgradeFailed|NotAvailable)$/.test(reason),
    remedy: ({ cause }, { cluster, flags }) => ({
      cause: `The control plane does not run as it should${sentence(cause.message, ": ")}`,
      steps: [`read what its components say: capstan logs ${cluster}${flags}`],
    }),
  },
  {
    matches: ({ kind }) => kind === "BareMetalHost",
    remedy: ({ cause }, { flags }) => ({
      cause: `Bare-metal host ${cause.name} is in trouble${sentence(cause.message, ": ")}`,
      steps: [
        `see that its management controller answers and the credentials are right: kubectl describe baremetalhost ${cause.name}${flags}`,
      ],
    }),
  },
];

/** What the last link of a chain means, and what to do about it. */
export function remedyFor(link: Link, scope: Scope): Remedy {
  const { cause, node } = link;
  const rule = RULES.find(({ matches }) => matches(cause, node));
  if (rule !== undefined) return rule.remedy(link, scope);
  const text = plain(cause.message);
  const { cluster, flags } = scope;
  return {
    cause:
      text === "" ? `${cause.kind} ${cause.name} reports ${cause.reason}.` : `${cause.kind} ${cause.name}: ${text}`,
    steps: [
      `see all that it reports: capstan describe cluster ${cluster}${flags} --show-conditions ${cause.kind}/${cause.name}`,
      `see what happened: capstan events ${cluster}${flags}`,
    ],
  };
}

function silentHost(host: HostName | undefined, { flags, machine }: Scope): Remedy {
  const who = host === undefined ? `The host of machine ${machine ?? "?"}` : `Host ${host.name}`;
  return {
    cause: `${who} has gone silent: it is off, cut off from the network, or its kubelet has stopped.`,
    steps: [
      host?.kind === "BareMetalHost"
        ? `see whether it is on: kubectl get baremetalhost ${host.name}${flags}`
        : `see when it was last heard of: capstan host list${flags}`,
      "switch it on or reconnect it: it comes back by itself",
      ...(machine === undefined
        ? []
        : [`or give it up, and the machine is replaced on another host: kubectl delete machine ${machine}${flags}`]),
    ],
  };
}

type HostName = Pick<ObjectNode, "kind" | "name">;

function hostBelow(node: ObjectNode): HostName | undefined {
  if (node.kind.endsWith("Host")) return node;
  for (const child of node.children) {
    const found = hostBelow(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function kindBelow(node: ObjectNode, kind: string): boolean {
  return node.kind === kind || node.children.some((child) => kindBelow(child, kind));
}

/** A message as the rest of a sentence; nothing when there is none. */
function sentence(message: string, lead: string): string {
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
