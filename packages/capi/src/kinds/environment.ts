import { array, boolean, object, optional, quantity, string } from "../schema/schema.ts";

const keyOf = (what: string) =>
  object(
    {
      name: optional(string({ doc: `Name of the ${what}.`, default: "" })),
      key: string({ doc: "Key in it." }),
      optional: optional(boolean({ doc: "Whether it may be missing." })),
    },
    { doc: `Reads the value from a key of a ${what} in the namespace of the Pod.`, mapType: "atomic" },
  );

/** Where the value of a variable comes from, as in a Pod. */
const source = object(
  {
    configMapKeyRef: optional(keyOf("ConfigMap")),
    secretKeyRef: optional(keyOf("Secret")),
    fieldRef: optional(
      object(
        {
          apiVersion: optional(string({ doc: "Version of the Pod that the path is of." })),
          fieldPath: string({ doc: "Path of a field of the Pod." }),
        },
        { doc: "Reads the value from a field of the Pod.", mapType: "atomic" },
      ),
    ),
    resourceFieldRef: optional(
      object(
        {
          containerName: optional(string({ doc: "Which container." })),
          resource: string({ doc: "Name of the limit or request." }),
          divisor: optional(quantity({ doc: "Unit of the value." })),
        },
        { doc: "Reads the value from a resource limit or request of a container.", mapType: "atomic" },
      ),
    ),
    fileKeyRef: optional(
      object(
        {
          volumeName: string({ doc: "Volume that holds the file." }),
          path: string({ doc: "Path of the file in it." }),
          key: string({ doc: "Key in the file." }),
          optional: optional(boolean({ doc: "Whether it may be missing.", default: false })),
        },
        { doc: "Reads the value from a key of a file in a volume.", mapType: "atomic" },
      ),
    ),
  },
  { doc: "Source of the value, instead of value." },
);

/** Environment variables of a component that kubeadm runs as a static pod. */
export const environment = array(
  object(
    {
      name: string({ doc: "Name of the variable." }),
      value: optional(string({ doc: "Its value." })),
      valueFrom: optional(source),
    },
    { doc: "One environment variable." },
  ),
  { doc: "Environment variables for the component.", minItems: 1, maxItems: 100 },
);
