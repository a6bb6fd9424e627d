import {
  gone,
  infraClusterKind,
  infraMachineKind,
  infrastructureProvider,
  type MachineAddress,
  noCapacity,
  type ObjectOf,
  optional,
  ready,
  string,
  templateKind,
  wait,
} from "@capstan/capi";

/** The outside world: hosts of a lab, to be taken and given back. Yours is a client of whatever has the machines. */
export interface Lab {
  find(owner: string): Promise<LabHost | undefined>;
  /** Starts a free host with this user data; undefined when none is free. Must find its own again when asked twice. */
  take(owner: string, wish: { rack?: string | undefined; userData: Uint8Array }): Promise<LabHost | undefined>;
  giveBack(owner: string): Promise<void>;
}

export interface LabHost {
  readonly id: string;
  readonly rack: string;
  readonly on: boolean;
  readonly addresses: MachineAddress[];
}

const machineFields = { rack: optional(string({ doc: "Where the host must stand.", maxLength: 63 })) };
export const LabCluster = infraClusterKind({ kind: "LabCluster", doc: "A cluster on hosts of the lab.", spec: {} });
export const LabMachine = infraMachineKind({ kind: "LabMachine", doc: "A host of the lab.", spec: machineFields });
export const LabMachineTemplate = templateKind({
  kind: "LabMachineTemplate",
  doc: "What LabMachines are made from.",
  spec: machineFields,
});
type LabMachine = ObjectOf<typeof LabMachine>;

const ownerOf = ({ metadata }: LabMachine): string => `${metadata.namespace}/${metadata.name}`;

/** The whole provider. Its functions are called until they say `ready` or `gone`, and may be called again at any time. */
export const labProvider = (lab: Lab) =>
  infrastructureProvider({
    name: "lab",
    title: "Lab",
    badge: { label: "Lab", color: "#5c940d" },
    workers: {
      summary: "hosts of the lab",
      clusterKind: LabCluster.kind,
      templateKind: LabMachineTemplate.kind,
      settings: { rack: { summary: "where the hosts must stand" } },
      clusterSpec: {},
      machineSpec: ({ settings: { rack } }) => (rack === undefined ? {} : { rack }),
    },
    why: { capacityCure: "put another host into the rack" },
    backend: lab,
    cluster: { kind: LabCluster, ensure: async () => ready(), remove: async () => gone() },
    machine: {
      kind: LabMachine,
      template: LabMachineTemplate,
      ensure: async ({ object, machine, backend, bootstrap }) => {
        const owner = ownerOf(object);
        const rack = machine.spec.failureDomain ?? object.spec?.rack;
        const userData = (await bootstrap.data()).bytes;
        const host = (await backend.find(owner)) ?? (await backend.take(owner, { rack, userData }));
        if (host === undefined) return noCapacity(`No host${rack === undefined ? "" : ` in rack ${rack}`} is free`);
        if (!host.on) return wait("Starting", `Host ${host.id} starts`, 5_000);
        return ready({ providerID: `lab://${host.id}`, addresses: host.addresses, failureDomain: host.rack });
      },
      remove: async ({ object, backend }) => {
        await backend.giveBack(ownerOf(object));
        return gone();
      },
    },
  });
