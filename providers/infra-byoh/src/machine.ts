import { formatTime } from "@capstan/apimachinery";
import {
  gone,
  type MachineAddress,
  type MachineRemoval,
  type MachineScope,
  noCapacity,
  type Outcome,
  PAUSED_ANNOTATION,
  ready,
  trouble,
  wait,
} from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { isPaused } from "./host/pause.ts";
import type { ByoMachine } from "./kinds/byo-machine.ts";
import { bootstrapFailure } from "./machine/bootstrap-failure.ts";
import { chooseHost, failureDomainOf, hostMatches } from "./machine/choose-host.ts";
import { heldMember } from "./machine/held-member.ts";
import type { Hosts } from "./machine/hosts.ts";
import { ensureInstaller } from "./machine/installer.ts";
import { nodeOfHost } from "./machine/node-of-host.ts";
import { wantedKubelet } from "./machine/wanted-kubelet.ts";

/** Another machine claimed the host first: retry at once. */
const CONTENDED_MS = 50;
/** A silent host cannot announce that it is silent. */
const SILENCE_CHECK_MS = 60_000;

type Scope = MachineScope<ByoMachine, Hosts>;

/** Claims a host, waits for its agent to run the bootstrap data, and reports ready once the node has joined. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const { object, backend, clock } = scope;
  const host = backend.of(object);
  // A machine that had a host does not claim another one: its host was removed.
  if (host === undefined) return object.spec?.providerID === undefined ? await claim(scope) : gone();
  backend.claims.stopWaiting(object);
  const uid = claimUid(host);
  const bootstrap = host.status?.bootstrap;
  if (bootstrap?.machineUID === uid && bootstrap.phase === "Succeeded") return await joined(scope, host);
  if (isPaused(host)) return pausedHost(host);
  const installing = host.spec?.bootstrapSecret === undefined ? await install(scope, host) : undefined;
  if (installing !== undefined) return installing;
  // An agent that has started already has its permissions.
  if (bootstrap?.machineUID !== uid || bootstrap.phase !== "Running")
    await backend.permissions.ensure(host, scope.signal);
  if (backend.isSilent(host, clock.now()))
    return trouble(
      "HostSilent",
      `host ${host.metadata.name} has not reported since ${host.status?.lastHeartbeatTime ?? "it was created"}: check that it is powered on, reaches the management API and its agent is running; or delete the Machine to replace it`,
      SILENCE_CHECK_MS,
    );
  if (bootstrap?.machineUID !== uid)
    return wait(
      "WaitingForAgent",
      `host ${host.metadata.name} is claimed; waiting for its agent to read the bootstrap data`,
    );
  if (bootstrap.phase === "Failed" && bootstrap.holdsEtcdMember === true)
    return trouble("BootstrapFailed", bootstrapFailure(host, "its log"));
  if (bootstrap.phase === "Failed") {
    await removeStaleNode(scope, host);
    return trouble("BootstrapFailed", bootstrapFailure(host, "the agent cleans up and retries, its log"));
  }
  const last = bootstrap.steps?.at(-1)?.name;
  return wait(
    "Bootstrapping",
    `host ${host.metadata.name} is running its bootstrap data${last === undefined ? "" : `, last: ${last}`}`,
  );
}

/** The UID that the host's agent knows its machine by: that of the claim, also when the machine was moved since. */
const claimUid = (host: ByoHost): string => host.spec?.machineRef?.uid ?? "";

const pausedHost = (host: ByoHost): Outcome =>
  wait(
    "HostPaused",
    `host ${host.metadata.name} is paused: resume its Cluster, or remove annotation ${PAUSED_ANNOTATION} from the ByoHost`,
  );

/** Gets the installation instructions for the host, and passes them on together with the bootstrap data. */
async function install({ object, machine, backend, signal }: Scope, host: ByoHost): Promise<Outcome | undefined> {
  const installer = await ensureInstaller(object, machine, backend.client, signal);
  if (typeof installer === "object") return installer;
  const given = { bootstrapSecret: machine.spec.bootstrap.dataSecretName ?? "", installationSecret: installer };
  if (await backend.hand(host, given, signal)) return claimed(host.metadata.name ?? "");
  return wait(
    "HostContended",
    `host ${host.metadata.name} changed while it was assigned its bootstrap data`,
    CONTENDED_MS,
  );
}

async function claim({ object, machine, cluster, backend, clock, signal }: Scope): Promise<Outcome> {
  const earlier = await backend.claims.doubtful(object, signal);
  if (earlier !== undefined) return claimed(earlier, CONTENDED_MS);
  const installs = object.spec?.installerRef !== undefined;
  const wanted = {
    selector: object.spec?.selector,
    failureDomain: machine.spec.failureDomain,
    kubelet: installs ? undefined : wantedKubelet(machine.spec.version, cluster),
  };
  const choice = chooseHost(backend.in(object.metadata.namespace ?? ""), wanted, clock.now(), backend.knowledge);
  if ("reason" in choice) {
    backend.claims.waits(object, hostMatches(wanted));
    return noCapacity(choice.reason);
  }
  const name = choice.host.metadata.name ?? "";
  // The agent begins when it has both, so that what installs Kubernetes comes first.
  const data = installs ? {} : { bootstrapSecret: machine.spec.bootstrap.dataSecretName ?? "" };
  const providerID = `byoh://${name}/${(object.metadata.uid ?? "").slice(0, 6)}`;
  if (!(await backend.claim(choice.host, object, { ...data, providerID }, signal)))
    return wait("HostContended", `host ${name} changed while it was being claimed; retrying`, CONTENDED_MS);
  return claimed(name);
}

const claimed = (host: string, recheckAfterMs?: number): Outcome =>
  wait("HostClaimed", `host ${host} is claimed; waiting for its agent to read the bootstrap data`, recheckAfterMs);

/** Sets the provider ID of the Node if its kubelet was not configured with one. */
async function joined(scope: Scope, host: ByoHost): Promise<Outcome> {
  const providerID = host.spec?.providerID ?? "";
  const { workload } = scope;
  if (workload.state === "connected" && workload.nodes.byProviderID(providerID) === undefined) {
    const { name, node, foreign } = nodeOfHost(scope, host);
    if (foreign !== undefined) return trouble("NodeOfAnotherMachine", `Node ${name} ${foreign}`, SILENCE_CHECK_MS);
    if (node === undefined)
      return wait("WaitingForNode", `host ${host.metadata.name} has joined; waiting for Node ${name} to appear`, 1000);
    await workload.client.patch({ kind: NODE, name }, { spec: { providerID } }, {}, scope.signal);
  }
  const failureDomain = failureDomainOf(host);
  return ready({
    providerID,
    addresses: addressesOf(host),
    failureDomain,
  });
}

/** Removes the Node that a failed attempt left, because kubeadm would refuse to join with its name. */
async function removeStaleNode(scope: Scope, host: ByoHost): Promise<void> {
  const { workload, signal } = scope;
  const { name, node } = nodeOfHost(scope, host);
  if (workload.state === "connected" && node !== undefined)
    await workload.client.delete({ kind: NODE, name }, {}, signal);
}

const NODE = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;

function addressesOf(host: ByoHost): MachineAddress[] {
  const hostname = host.status?.hostinfo?.hostname;
  const network = [...(host.status?.network ?? [])].sort(
    (a, b) => Number(b.isDefault ?? false) - Number(a.isDefault ?? false),
  );
  return [
    ...(hostname === undefined ? [] : [{ type: "Hostname" as const, address: hostname }]),
    ...network.flatMap((device) =>
      (device.ipAddrs ?? []).map((cidr) => ({ type: "InternalIP" as const, address: cidr.split("/")[0] ?? cidr })),
    ),
  ];
}

/** Lets a host that is on offer go to another machine while this one is paused. */
export async function pauseMachine({ object, backend }: MachineRemoval<ByoMachine, Hosts>): Promise<void> {
  backend.claims.stopWaiting(object);
}

/** Has the agent clean the host and then frees it. It does not wait for a disconnected agent: that host is cleaned when it reconnects. */
export async function removeMachine(scope: MachineRemoval<ByoMachine, Hosts>): Promise<Outcome> {
  const { object, machine, backend, clock, signal } = scope;
  backend.claims.stopWaiting(object);
  const host = backend.of(object);
  const held = host === undefined || host.spec?.release !== undefined ? undefined : heldMember(machine);
  if (held !== undefined) return trouble("HoldsEtcdMember", `host ${host?.metadata.name} is not cleaned: ${held}`);
  if (host === undefined) {
    const earlier = await backend.claims.doubtful(object, signal);
    return earlier === undefined ? gone() : wait("ReleasingHost", `host ${earlier} is being released`, CONTENDED_MS);
  }
  const uid = claimUid(host);
  if (isPaused(host)) return pausedHost(host);
  const asked = { machineUID: uid, requestedAt: formatTime(clock.now()) };
  if (host.spec?.release === undefined) await backend.release(host, asked, signal);
  else if (host.status?.release?.machineUID === uid && host.status.release.phase === "Released")
    return (await backend.releaseClaim(host, true, signal)) ? gone() : wait("Releasing", "", CONTENDED_MS);
  else if (backend.isSurelySilent(host, clock.now()))
    return (await backend.releaseClaim(host, false, signal)) ? gone() : wait("Releasing", "", CONTENDED_MS);
  const { phase, message = "" } = host.status?.release ?? {};
  return phase === "Failed"
    ? trouble(
        "ReleaseFailed",
        `host ${host.metadata.name} cannot be cleaned: ${message}; the agent retries, its log: capstan host logs ${host.metadata.name}`,
        SILENCE_CHECK_MS,
      )
    : wait("ReleasingHost", `host ${host.metadata.name} is being cleaned`, SILENCE_CHECK_MS);
}
