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
import { chooseHost, failureDomainOf } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";
import { ensureInstaller } from "./installer.ts";
import type { ByoMachine } from "./kinds/byo-machine.ts";
import { nodeOfHost } from "./node-of-host.ts";
import { isPaused } from "./pause.ts";
import { wantedKubelet } from "./wanted-kubelet.ts";

/** Somebody else took the host we wanted: look again at once. */
const CONTENDED_MS = 50;
/** A silent host cannot announce that it is silent. */
const SILENCE_CHECK_MS = 60_000;

type Scope = MachineScope<ByoMachine, Hosts>;

/** Claims a host, waits for its agent to run the bootstrap data, and reports ready once the node has joined. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const { object, backend, clock } = scope;
  const host = backend.of(object);
  // A machine that had its host does not become another one: its host was taken away.
  if (host === undefined) return object.spec?.providerID === undefined ? await claim(scope) : gone();
  const uid = claimUid(host);
  const bootstrap = host.status?.bootstrap;
  if (bootstrap?.machineUID === uid && bootstrap.phase === "Succeeded") return await joined(scope, host);
  if (isPaused(host)) return pausedHost(host);
  const installing = host.spec?.bootstrapSecret === undefined ? await install(scope, host) : undefined;
  if (installing !== undefined) return installing;
  // An agent that has begun has its rights.
  if (bootstrap?.machineUID !== uid || bootstrap.phase !== "Running") await backend.rights.ensure(host, scope.signal);
  if (backend.isSilent(host, clock.now()))
    return trouble(
      "HostSilent",
      `host ${host.metadata.name} has not been heard of since ${host.status?.lastHeartbeatTime ?? "ever"}: see that it is on, reaches the management API and its agent runs; or delete the Machine to have it replaced`,
      SILENCE_CHECK_MS,
    );
  if (bootstrap?.machineUID !== uid)
    return wait("WaitingForAgent", `host ${host.metadata.name} is claimed; its agent takes the bootstrap data next`);
  if (bootstrap.phase === "Failed") {
    await removeStaleNode(scope, host);
    return trouble(
      "BootstrapFailed",
      `host ${host.metadata.name}: ${bootstrap.message ?? "failed"}; the agent cleans up and tries again, its log: capstan host logs ${host.metadata.name}`,
    );
  }
  const last = bootstrap.steps?.at(-1)?.name;
  return wait(
    "Bootstrapping",
    `host ${host.metadata.name} runs its bootstrap data${last === undefined ? "" : `, last: ${last}`}`,
  );
}

/** The UID that the host's agent knows its machine by: that of the claim, also when the machine was moved since. */
const claimUid = (host: ByoHost): string => host.spec?.machineRef?.uid ?? "";

const pausedHost = (host: ByoHost): Outcome =>
  wait(
    "HostPaused",
    `host ${host.metadata.name} is paused: resume its Cluster, or remove annotation ${PAUSED_ANNOTATION} from the ByoHost`,
  );

/** Asks for what installs Kubernetes on the host, and hands it over together with the bootstrap data. */
async function install({ object, machine, backend, signal }: Scope, host: ByoHost): Promise<Outcome | undefined> {
  const installer = await ensureInstaller(object, machine, backend.client, signal);
  if (typeof installer === "object") return installer;
  const given = { bootstrapSecret: machine.spec.bootstrap.dataSecretName ?? "", installationSecret: installer };
  if (await backend.hand(host, given, signal)) return claimed(host.metadata.name ?? "");
  return wait("HostContended", `host ${host.metadata.name} changed while it was handed its data`, CONTENDED_MS);
}

async function claim({ object, machine, cluster, backend, clock, signal }: Scope): Promise<Outcome> {
  const earlier = await backend.doubtful(object, signal);
  if (earlier !== undefined) return claimed(earlier, CONTENDED_MS);
  const installs = object.spec?.installerRef !== undefined;
  const wanted = {
    selector: object.spec?.selector,
    failureDomain: machine.spec.failureDomain,
    kubelet: installs ? undefined : wantedKubelet(machine.spec.version, cluster),
  };
  const choice = chooseHost(backend.in(object.metadata.namespace ?? ""), wanted, clock.now(), backend.knowledge);
  if ("reason" in choice) {
    backend.waits(object, wanted);
    return noCapacity(choice.reason);
  }
  const name = choice.host.metadata.name ?? "";
  // The agent begins when it has both, so that what installs Kubernetes comes first.
  const data = installs ? {} : { bootstrapSecret: machine.spec.bootstrap.dataSecretName ?? "" };
  const providerID = `byoh://${name}/${(object.metadata.uid ?? "").slice(0, 6)}`;
  if (!(await backend.claim(choice.host, object, { ...data, providerID }, signal)))
    return wait("HostContended", `host ${name} changed while it was being claimed; looking again`, CONTENDED_MS);
  return claimed(name);
}

const claimed = (host: string, recheckAfterMs?: number): Outcome =>
  wait("HostClaimed", `host ${host} is claimed; its agent takes the bootstrap data next`, recheckAfterMs);

/** The node is there: it gets its provider ID if its kubelet was not told one. */
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
    ...(failureDomain === undefined ? {} : { failureDomain }),
  });
}

/** A try that failed late has left a Node, which kubeadm would take for another machine of that name: the host was cleaned since. */
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

/** Has the agent clean the host and then frees it. It does not wait for a disconnected agent: that host is cleaned when it reconnects. */
export async function removeMachine(scope: MachineRemoval<ByoMachine, Hosts>): Promise<Outcome> {
  const { object, backend, clock, signal } = scope;
  backend.waitsNoMore(object);
  const host = backend.of(object);
  if (host === undefined) {
    const earlier = await backend.doubtful(object, signal);
    return earlier === undefined ? gone() : wait("ReleasingHost", `host ${earlier} is being released`, CONTENDED_MS);
  }
  const uid = claimUid(host);
  if (isPaused(host)) return pausedHost(host);
  const asked = { machineUID: uid, requestedAt: formatTime(clock.now()) };
  if (host.spec?.release === undefined) await backend.release(host, asked, signal);
  else if (host.status?.release?.machineUID === uid && host.status.release.phase === "Released")
    return (await backend.letGo(host, true, signal)) ? gone() : wait("Releasing", "", CONTENDED_MS);
  else if (backend.isSurelySilent(host, clock.now()))
    return (await backend.letGo(host, false, signal)) ? gone() : wait("Releasing", "", CONTENDED_MS);
  const { phase, message = "" } = host.status?.release ?? {};
  return phase === "Failed"
    ? trouble(
        "ReleaseFailed",
        `host ${host.metadata.name} cannot be cleaned: ${message}; the agent tries again, its log: capstan host logs ${host.metadata.name}`,
        SILENCE_CHECK_MS,
      )
    : wait("ReleasingHost", `host ${host.metadata.name} is being cleaned`, SILENCE_CHECK_MS);
}
