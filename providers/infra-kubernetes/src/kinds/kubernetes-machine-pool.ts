import {
  array,
  boolean,
  conditions,
  defineKind,
  INFRASTRUCTURE_GROUP,
  integer,
  type ObjectOf,
  object,
  optional,
  string,
} from "@capstan/capi";
import { machineFields } from "./kubernetes-machine.ts";

/** Infrastructure of a MachinePool whose machines are pods. */
export const KubernetesMachinePool = defineKind({
  group: INFRASTRUCTURE_GROUP,
  version: "v1beta2",
  kind: "KubernetesMachinePool",
  plural: "kubernetesmachinepools",
  doc: "Machines of a MachinePool that are pods of an outer cluster, each a KubernetesMachine.",
  contracts: { v1beta2: "v1beta2" },
  shortNames: ["k8smp"],
  schema: object({
    spec: optional(
      object(
        {
          template: optional(
            object(machineFields, { doc: "Spec of the machines; a change replaces them one by one." }),
          ),
          providerIDList: optional(
            array(string({ minLength: 1, maxLength: 512 }), {
              doc: "Provider IDs of the machines; written by the controller.",
              maxItems: 10_000,
              listType: "atomic",
            }),
          ),
        },
        { doc: "Desired state of the KubernetesMachinePool." },
      ),
    ),
    status: optional(
      object(
        {
          conditions: optional(conditions),
          initialization: optional(
            object(
              { provisioned: optional(boolean({ doc: "True once all machines were ready; never false again." })) },
              { doc: "Milestones of the first provisioning.", minProperties: 1 },
            ),
          ),
          replicas: optional(integer({ doc: "Machines that exist.", minimum: 0 })),
          infrastructureMachineKind: optional(string({ doc: "Kind of the machines." })),
        },
        { doc: "Observed state of the KubernetesMachinePool." },
      ),
    ),
  }),
  columns: [
    { name: "Replicas", type: "integer", jsonPath: ".status.replicas" },
    { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
/** A KubernetesMachinePool object. */
export type KubernetesMachinePool = ObjectOf<typeof KubernetesMachinePool>;
