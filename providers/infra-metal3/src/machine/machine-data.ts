import { ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type ConditionInput } from "@capstan/capi";
import { DATA_CLAIM_FINALIZER } from "../data/names.ts";
import { Metal3Data, Metal3DataClaim } from "../kinds/metal3-data.ts";
import type { Metal3Machine } from "../kinds/metal3-machine.ts";
import type { SecretName } from "./host-spec.ts";
import type { Hosts } from "./hosts.ts";

/** The Secrets with a machine's rendered data, or what they are waiting for. */
export type MachineData =
  | {
      ready: true;
      metaData: SecretName | undefined;
      networkData: SecretName | undefined;
      rendered: string | undefined;
      condition: ConditionInput;
    }
  | { ready: false; failed: boolean; message: string; condition: ConditionInput };

/** Ensures that the data of a machine is rendered; Secrets that the machine names itself take precedence. */
export async function ensureData(
  machine: Metal3Machine,
  cluster: string,
  hosts: Hosts,
  signal: AbortSignal,
): Promise<MachineData> {
  const { spec = {} } = machine;
  const { namespace = "", name = "" } = machine.metadata;
  const own = { metaData: secretOf(spec.metaData, namespace), networkData: secretOf(spec.networkData, namespace) };
  if (spec.dataTemplate?.name === undefined)
    return { ready: true, ...own, rendered: undefined, condition: isReady("SecretsSetExternally") };
  const claim = hosts.cache.get(Metal3DataClaim, { namespace, name });
  if (claim === undefined) await hosts.client.create(claimFor(machine, spec.dataTemplate.name, cluster), {}, signal);
  const rendered = claim?.status?.renderedData?.name;
  const data = rendered === undefined ? undefined : hosts.cache.get(Metal3Data, { namespace, name: rendered });
  const problem = claim?.status?.errorMessage ?? data?.status?.errorMessage;
  if (problem !== undefined && problem !== "") return waiting(problem, true);
  if (data?.status?.ready !== true)
    return waiting(`waiting for the data of Metal3DataTemplate ${spec.dataTemplate.name} to be rendered`, false);
  return {
    ready: true,
    metaData: own.metaData ?? secretOf(data.spec.metaData, namespace),
    networkData: own.networkData ?? secretOf(data.spec.networkData, namespace),
    rendered,
    condition: isReady("Metal3DataSecretsReady"),
  };
}

/** Deletes a machine's data claim; returns true once it is deleted. */
export async function removeData(machine: Metal3Machine, hosts: Hosts, signal: AbortSignal): Promise<boolean> {
  const { namespace, name = "" } = machine.metadata;
  const claim = hosts.cache.get(Metal3DataClaim, { namespace, name });
  if (claim === undefined || !isOwn(claim, machine)) return true;
  if (claim.metadata.deletionTimestamp === undefined) await hosts.client.delete(claim, {}, signal);
  return hosts.cache.get(Metal3DataClaim, { namespace, name }) === undefined;
}

function isOwn(claim: Metal3DataClaim, machine: Metal3Machine): boolean {
  return (
    claim.metadata.ownerReferences?.some(({ kind, name }) => kind === machine.kind && name === machine.metadata.name) ??
    false
  );
}

function claimFor(machine: Metal3Machine, template: string, cluster: string): Metal3DataClaim {
  const { namespace = "", name = "" } = machine.metadata;
  return {
    apiVersion: Metal3DataClaim.apiVersion,
    kind: Metal3DataClaim.kind,
    metadata: {
      namespace,
      name,
      labels: { [CLUSTER_NAME_LABEL]: cluster },
      finalizers: [DATA_CLAIM_FINALIZER],
      ownerReferences: [ownerReference(machine, { controller: true })],
    },
    spec: { template: { name: template, namespace } },
  };
}

function secretOf(
  reference: { name?: string; namespace?: string } | undefined,
  namespace: string,
): SecretName | undefined {
  return reference?.name === undefined ? undefined : { name: reference.name, namespace };
}

const CONDITION = "Metal3DataReady";
const isReady = (reason: string): ConditionInput => ({ type: CONDITION, status: "True", reason, message: "" });
const waiting = (message: string, failed: boolean): MachineData => ({
  ready: false,
  failed,
  message,
  condition: { type: CONDITION, status: "False", reason: "WaitingForMetal3Data", message },
});
