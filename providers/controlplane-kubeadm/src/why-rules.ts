import {
  DROP_REMOVED_FLAGS_ANNOTATION,
  type ObjectNode,
  type Remedy,
  type RemedyRule,
  type RemedyScope,
  sentence,
  type WhyRules,
} from "@capstan/capi";
import { REASONS } from "./own-reasons.ts";

const KIND = "KubeadmControlPlane";

/** Problems that waiting never solves. */
const FAULTS = new Set<string>([
  REASONS.templateNotFound,
  REASONS.certificatesNotAvailable,
  REASONS.foreignMachines,
  REASONS.adoptionFailed,
  "SettingsNotSupported",
  "KubeletTooOld",
]);

/** What keeps Machines in deletion, or a rollout, because etcd or the last healthy components would be lost. */
const HELD = /^(QuorumWouldBeLost|NoHealthyControlPlane|LeaderUnknown|OrphanedMember|MembersUnknown)$/;

function rule(reasons: RegExp, remedy: RemedyRule["remedy"]): RemedyRule {
  return { matches: ({ kind, reason }) => kind === KIND && reasons.test(reason), remedy };
}

/** What `why` knows about control planes on Machines. */
export const kubeadmControlPlaneRules: WhyRules = {
  remedies: [
    rule(/^WaitingForEndpoint$/, (_, { cluster, flags }) => ({
      cause: `Cluster ${cluster} has no address for its API, which every Machine of the control plane needs first.`,
      steps: [
        `set the address of a load balancer or a free virtual IP: kubectl patch cluster ${cluster}${flags} --type merge -p '{"spec":{"controlPlaneEndpoint":{"host":"ADDRESS","port":6443}}}'`,
        `or let the infrastructure cluster provide one; see what it reports: capstan describe cluster ${cluster}${flags}`,
      ],
    })),
    rule(/^WaitingForClusterInfrastructureReady$/, (_, { cluster, flags }) => ({
      cause: `The infrastructure of Cluster ${cluster} is not provisioned yet.`,
      steps: [`see what it waits for: capstan describe cluster ${cluster}${flags}`],
    })),
    rule(/^InfrastructureTemplateNotFound$/, ({ cause }, { flags }) => ({
      cause: `The template of the control plane's machines cannot be used${sentence(cause.message, ": ")}`,
      steps: [
        "apply the template",
        `or name another one in spec.machineTemplate.spec.infrastructureRef: kubectl edit kubeadmcontrolplane ${cause.name}${flags}`,
      ],
    })),
    rule(/^CertificatesNotAvailable$/, ({ cause }) => ({
      cause: `The authorities of the cluster are not available${sentence(cause.message, ": ")}`,
      steps: ["restore the Secret, for example from a backup of the management cluster"],
    })),
    rule(/^(SettingsNotSupported|NotEnoughFreeHosts|KubeletTooOld|NodesNotKnown)$/, ({ cause }, { flags }) => ({
      cause: `The control plane ${cause.name} does not change its Machines${sentence(cause.message, ": ")}`,
      steps: [
        `correct or revert the change: kubectl edit kubeadmcontrolplane ${cause.name}${flags}`,
        ...(cause.reason === "SettingsNotSupported"
          ? [
              `or drop what the version rejects: kubectl annotate kubeadmcontrolplane ${cause.name}${flags} ${DROP_REMOVED_FLAGS_ANNOTATION}=true`,
            ]
          : []),
      ],
    })),
    rule(/^EndpointDown$/, ({ cause }, { cluster, flags }) => ({
      cause: `The endpoint of Cluster ${cluster} is down${sentence(cause.message, ": ")}`,
      steps: [
        "repair the load balancer, or see which Machine should hold the virtual IP and why its static pod does not run",
        `see the Machines, which are still replaced and repaired meanwhile: capstan describe cluster ${cluster}${flags}`,
      ],
    })),
    rule(HELD, heldBack),
    {
      matches: ({ kind }, node) => kind === "Machine" && retriesUsedUp(node) !== undefined,
      remedy: notRemediatedAgain,
    },
    rule(/^(MachinesOfAnotherOwner|AdoptionFailed)$/, ({ cause }, { flags }) => ({
      cause: `The control plane ${cause.name} does not change any Machine${sentence(cause.message, ": ")}`,
      steps: [
        `see the control plane Machines and their owners: kubectl get machines${flags} -l cluster.x-k8s.io/control-plane`,
      ],
    })),
    {
      matches: ({ kind, condition, message }) =>
        kind === KIND && condition === "Available" && message.startsWith("Control plane not yet initialized"),
      remedy: notInitialized,
    },
    {
      matches: ({ kind, reason, message }) =>
        kind === KIND && (reason === REASONS.quorumLost || /etcd quorum/.test(message)),
      remedy: quorum,
    },
  ],
  isFault: ({ kind, reason }) => kind === KIND && FAULTS.has(reason),
};

/** What is wrong with the Machine varies; that nothing replaces it any more is what a person has to know. */
function retriesUsedUp({ conditions }: ObjectNode): string | undefined {
  const found = conditions.find(({ type, status }) => type === "OwnerRemediated" && status === "False");
  return found?.reason === "CannotBeRemediated" && found.message.includes("(MaxRetry)") ? found.message : undefined;
}

function notRemediatedAgain(
  { cause, node }: Parameters<RemedyRule["remedy"]>[0],
  { cluster, flags }: RemedyScope,
): Remedy {
  const refusal = retriesUsedUp(node)?.split(". ")[0] ?? "";
  return {
    cause: `Machine ${cause.name} has failed and is not remediated again: ${refusal}${sentence(cause.message, "; it reports: ")}`,
    steps: [
      `see why its replacements fail: capstan describe cluster ${cluster}${flags}`,
      `repair the cause, then delete the Machine, which the control plane replaces: kubectl delete machine ${cause.name}${flags}`,
      `or allow more retries: raise spec.remediation.maxRetry with kubectl edit kubeadmcontrolplane NAME${flags}`,
    ],
  };
}

function heldBack({ cause }: Parameters<RemedyRule["remedy"]>[0], { cluster, flags }: RemedyScope): Remedy {
  return {
    cause: `A change of the control plane ${cause.name} is held back${sentence(cause.message, ": ")}`,
    steps: [
      `see which Machines are not healthy: capstan describe cluster ${cluster}${flags}`,
      "power on or repair one of them; the change continues by itself",
    ],
  };
}

function notInitialized(
  { cause }: Parameters<RemedyRule["remedy"]>[0],
  { cluster, flags, machine, stuck }: RemedyScope,
): Remedy {
  const silent = /does not answer at (\S+)/.exec(cause.message)?.[1];
  const detail = cause.message.replace(/^Control plane not yet initialized:? ?/, "");
  const who = machine === undefined ? "the first Machine" : `Machine ${machine}`;
  if (!stuck)
    return {
      cause: `The control plane is starting: kubeadm init runs on ${who}${sentence(detail, ": ")}`,
      steps: [`wait, or watch it: capstan describe cluster ${cluster}${flags} --watch`],
    };
  return {
    cause: `kubeadm init has not finished on ${who}${sentence(detail, ": ")}`,
    steps: [
      ...(silent === undefined
        ? []
        : [
            `check that ${silent} leads to the Machine: that its virtual IP is announced, or that the load balancer forwards to it, and that no other cluster answers there`,
          ]),
      "read what kubeadm printed on the machine: /var/log/cloud-init-output.log, or capstan host logs NAME for one of your own hosts",
      `or start again with another machine: kubectl delete machine ${machine ?? "NAME"}${flags}`,
    ],
  };
}

function quorum({ cause }: Parameters<RemedyRule["remedy"]>[0], { cluster, flags }: RemedyScope): Remedy {
  return {
    cause: `etcd of control plane ${cause.name} has lost members or its quorum${sentence(cause.message, ": ")}`,
    steps: [
      `see which Machines have failed: capstan describe cluster ${cluster}${flags}`,
      "power on or repair them: etcd continues by itself once a majority of its members runs",
      `if a majority is lost for good, see what can be restored, and restore it after a question: capstan recover ${cluster}${flags}`,
    ],
  };
}
