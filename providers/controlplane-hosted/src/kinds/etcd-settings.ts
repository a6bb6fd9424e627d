import { array, integer, object, optional, string } from "@capstan/capi";
import { backupFields } from "@capstan/controlplane";
import { argument, containerFields, OBJECT_NAME } from "./component-settings.ts";

/** Settings of etcd. */
export const etcd = object(
  {
    ...containerFields,
    toolsImage: optional(
      string({
        doc: "Pods: image with sh, head and sha256sum that receives the backup to restore; busybox of `imageRepository` by default.",
        minLength: 1,
        maxLength: 512,
      }),
    ),
    replicas: optional(
      integer({
        doc: "Members: 1, 3 or 5.",
        default: 1,
        rules: [{ rule: "self in [1, 3, 5]", message: "etcd needs an odd number of members: 1, 3 or 5" }],
      }),
    ),
    shared: optional(
      object(
        {
          name: string({
            doc: "Name of the shared etcd; all control planes with the same name share it.",
            pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            maxLength: 63,
            rules: [{ rule: "self == oldSelf", message: "the shared etcd that holds the data cannot be changed" }],
          }),
        },
        {
          doc: "Process: stores the data in an etcd that control planes of this machine share, below a prefix that only this one can read and write. `quotaBytes` then limits the size of its objects, 256 MiB by default.",
        },
      ),
    ),
    storage: optional(
      object(
        {
          type: optional(
            string({
              doc: "Where a member stores its data: PersistentVolumeClaim by default; an EmptyDir is lost with its pod.",
              enum: ["PersistentVolumeClaim", "EmptyDir"],
            }),
          ),
          size: optional(string({ doc: "Size of each member's volume, 8Gi by default.", maxLength: 32 })),
          storageClassName: optional(
            string({ doc: "Storage class; by default the default class of the host cluster.", maxLength: 253 }),
          ),
        },
        { doc: "Pods: storage of each etcd member." },
      ),
    ),
    backup: optional(object(backupFields, { doc: "When backups of etcd are taken and where they are stored." })),
    quotaBytes: optional(
      integer({
        doc: "Size of the data at which etcd rejects further writes; 2 GiB by default.",
        minimum: 16_777_216,
        maximum: 8_589_934_592,
        format: "int64",
      }),
    ),
    defragment: optional(
      object(
        {
          schedule: optional(string({ doc: "When to defragment: five fields of cron, in UTC.", maxLength: 64 })),
          unusedPercent: optional(
            integer({
              doc: "Also defragment when this percentage of the data files is unused; 50 by default.",
              minimum: 10,
              maximum: 100,
            }),
          ),
        },
        { doc: "When etcd is defragmented." },
      ),
    ),
    restoreFrom: optional(
      object(
        {
          backup: string({ doc: "Name of the backup, such as `20261116T030000Z`.", maxLength: 128 }),
          controlPlane: optional(
            string({
              doc: "The HostedControlPlane of this namespace that the backup was taken from, if it is another one.",
              pattern: OBJECT_NAME,
              maxLength: 253,
            }),
          ),
        },
        { doc: "Backup whose data replaces the data of etcd." },
      ),
    ),
    extraArgs: optional(array(argument, { doc: "More flags of etcd.", maxItems: 100 })),
  },
  { doc: "Settings of etcd." },
);
