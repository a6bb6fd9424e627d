import { array, infraMachineKind, map, type ObjectOf, object, optional, string, templateKind } from "@capstan/capi";

const selector = object(
  {
    matchLabels: optional(map(string())),
    matchExpressions: optional(
      array(
        object({
          key: string({ maxLength: 317 }),
          operator: string({ enum: ["In", "NotIn", "Exists", "DoesNotExist"] }),
          values: optional(array(string({ maxLength: 63 }), { maxItems: 100 })),
        }),
        { maxItems: 32 },
      ),
    ),
  },
  { doc: "Which ByoHosts qualify; all when absent." },
);

const fields = { selector: optional(selector) };

/** A machine that is a host of one's own. */
export const ByoMachine = infraMachineKind({
  kind: "ByoMachine",
  doc: "A machine that runs on a host its owner brought: it claims a free ByoHost and gives it back clean.",
  shortNames: ["byom"],
  spec: fields,
});
export type ByoMachine = ObjectOf<typeof ByoMachine>;

export const ByoMachineTemplate = templateKind({
  kind: "ByoMachineTemplate",
  doc: "A template of ByoMachines.",
  spec: fields,
});
