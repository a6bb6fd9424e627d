import { formatTime } from "@capstan/apimachinery";
import {
  gone,
  type MachineAddress,
  type MachineRemoval,
  type MachineScope,
  noCapacity,
  type Outcome,
  ready,
  wait,
} from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { chooseHost, isSilent } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";
import type { ByoMachine } from "./kinds/byo-machine.ts";

/** Somebody else took the host we wanted: look again at once. */
const CONTENDED_MS = 50;
/** A silent host cannot announce that it is silent. */
const SILENCE_CHECK_MS = 60_000;

type Scope = MachineScope<ByoMachine, Hosts>;

/** Claims a host, lets its agent run the bootstrap data, and is ready when the node has joined. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const { object, backend, clock } = scope;
  const host = backend.of(object);
  if (host === undefined) return await claim(scope);
  const uid = object.metadata.uid ?? "";
  const bootstrap = host.status?.bootstrap;
  if (bootstrap?.machineUID === uid && bootstrap.phase === "Succeeded") return await joined(scope, host);
  await backend.ensureRights(host);
  if (isSilent(host, clock.now()))
    return wait(
      "HostSilent",
      `host ${host.metadata.name} has not been heard of since ${host.status?.lastHeartbeatTime ?? "ever"}: see that its agent runs`,
      SILENCE_CHECK_MS,
    );
  if (bootstrap?.machineUID !== uid)
    return wait("WaitingForAgent", `host ${host.metadata.name} is claimed; its agent takes the bootstrap data next`);
  if (bootstrap.phase === "Failed")
    return wait(
      "BootstrapFailed",
      `host ${host.metadata.name}: ${bootstrap.message ?? "failed"}; the agent cleans up and tries again, its log: capstan host logs ${host.metadata.name}`,
    );
  const last = bootstrap.steps?.at(-1)?.name;
  return wait(
    "Bootstrapping",
    `host ${host.metadata.name} runs its bootstrap data${last === undefined ? "" : `, last: ${last}`}`,
  );
}

async function claim({ object, machine, backend, clock }: Scope): Promise<Outcome> {
  const choice = chooseHost(backend.list(object.metadata.namespace ?? ""), object.spec?.selector, clock.now());
  if ("reason" in choice) {
    backend.waits(object);
    return noCapacity(choice.reason);
  }
  const secret = machine.spec.bootstrap.dataSecretName ?? "";
  const providerID = `byoh://${choice.host.metadata.name}/${(object.metadata.uid ?? "").slice(0, 6)}`;
  if (!(await backend.claim(choice.host, object, secret, providerID)))
    return wait(
      "HostContended",
      `another machine took host ${choice.host.metadata.name}; looking for the next`,
      CONTENDED_MS,
    );
  return wait("HostClaimed", `host ${choice.host.metadata.name} is claimed; its agent takes the bootstrap data next`);
}

/** The node is there: it gets its provider ID if its kubelet was not told one. */
async function joined(scope: Scope, host: ByoHost): Promise<Outcome> {
  const providerID = host.spec?.providerID ?? "";
  const { workload } = scope;
  if (workload.state === "connected" && workload.nodes.byProviderID(providerID) === undefined) {
    const name = (host.status?.hostinfo?.hostname ?? host.metadata.name ?? "").toLowerCase();
    const node = workload.nodes.get(name);
    if (node === undefined)
      return wait("WaitingForNode", `host ${host.metadata.name} has joined; waiting for Node ${name} to appear`, 1000);
    if (node.spec?.providerID === undefined)
      await workload.client.patch({ kind: NODE, name }, { spec: { providerID } });
  }
  return ready({ providerID, addresses: addressesOf(host) });
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

/** Has the agent clean the host and gives it back; a host whose agent is gone is given up and cleans itself when it returns. */
export async function removeMachine({ object, backend, clock }: MachineRemoval<ByoMachine, Hosts>): Promise<Outcome> {
  const host = backend.of(object);
  if (host === undefined) return gone();
  const uid = object.metadata.uid ?? "";
  if (host.spec?.release === undefined) await backend.release(host, uid, formatTime(clock.now()));
  else if (host.status?.release?.machineUID === uid && host.status.release.phase === "Released")
    return (await backend.letGo(host, true)) ? gone() : wait("Releasing", "", CONTENDED_MS);
  else if (isSilent(host, clock.now()))
    return (await backend.letGo(host, false)) ? gone() : wait("Releasing", "", CONTENDED_MS);
  const failed = host.status?.release?.phase === "Failed" ? `: ${host.status.release.message ?? ""}` : "";
  return wait("ReleasingHost", `host ${host.metadata.name} is being cleaned${failed}`, SILENCE_CHECK_MS);
}
