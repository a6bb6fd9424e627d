import { array, infraMachineKind, map, type ObjectOf, object, optional, string, templateKind } from "@capstan/capi";

const selector = object(
  {
    matchLabels: optional(map(string(), { doc: "Labels that a ByoHost must have." })),
    matchExpressions: optional(
      array(
        object(
          {
            key: string({ doc: "Key of the label.", maxLength: 317 }),
            operator: string({
              doc: "How the label is compared with the values.",
              enum: ["In", "NotIn", "Exists", "DoesNotExist"],
            }),
            values: optional(
              array(string({ maxLength: 63 }), {
                doc: "Values to compare with; empty for Exists and DoesNotExist.",
                maxItems: 100,
              }),
            ),
          },
          { doc: "One requirement on a label." },
        ),
        { doc: "Further requirements on the labels of a ByoHost.", maxItems: 32 },
      ),
    ),
  },
  { doc: "Which ByoHosts qualify; all when absent." },
);

const installerRef = object(
  {
    apiVersion: string({ doc: "API version of the installer template.", maxLength: 253 }),
    kind: string({ doc: "Kind of the installer template.", maxLength: 63 }),
    name: string({ doc: "Name of the installer template.", maxLength: 253 }),
    namespace: optional(
      string({ doc: "Namespace of the installer template; that of the machine by default.", maxLength: 63 }),
    ),
  },
  {
    doc: "A template such as K8sInstallerConfigTemplate, with which Kubernetes is installed on the host. Without it the host must have Kubernetes installed.",
  },
);

const fields = { selector: optional(selector), installerRef: optional(installerRef) };

/** Infrastructure machine that runs on a bring-your-own host. */
export const ByoMachine = infraMachineKind({
  kind: "ByoMachine",
  doc: "A machine on a bring-your-own host: it claims a free ByoHost, and releases it clean.",
  shortNames: ["byom"],
  spec: fields,
  alsoV1beta1: true,
});
export type ByoMachine = ObjectOf<typeof ByoMachine>;

/** Template that MachineSets create ByoMachines from. */
export const ByoMachineTemplate = templateKind({
  kind: "ByoMachineTemplate",
  doc: "A template of ByoMachines.",
  spec: fields,
  alsoV1beta1: true,
});
