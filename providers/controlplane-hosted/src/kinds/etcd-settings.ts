import { array, integer, object, optional, string } from "@capstan/capi";
import { argument, containerFields, OBJECT_NAME } from "./component-settings.ts";

/** Parts with a letter or a digit: `.` and `..` would be taken out of the address. */
const S3_PREFIX = "^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*(/[._-]*[A-Za-z0-9][A-Za-z0-9._-]*)*$";

const s3 = object(
  {
    endpoint: string({
      doc: "Address of an S3-compatible store, such as `https://s3.eu-central-1.amazonaws.com`.",
      pattern: "^https?://[^/?#@\\\\]+/?$",
      maxLength: 512,
    }),
    bucket: string({ doc: "Name of the bucket.", pattern: "^[a-z0-9][a-z0-9.-]*$", maxLength: 63 }),
    prefix: optional(string({ doc: "Put before the keys.", pattern: S3_PREFIX, maxLength: 512 })),
    region: optional(
      string({ doc: "Region of the bucket; `us-east-1` by default.", pattern: "^[a-z0-9-]+$", maxLength: 64 }),
    ),
    secretName: string({
      doc: "Secret with the keys `accessKeyId` and `secretAccessKey`.",
      pattern: OBJECT_NAME,
      maxLength: 253,
    }),
  },
  { doc: "S3-compatible store that keeps the backups; by default the manager keeps them in its data directory." },
);

/** Settings of etcd. */
export const etcd = object(
  {
    ...containerFields,
    toolsImage: optional(
      string({
        doc: "Pods: image with sh, head and sha256sum that receives a backup which is restored; busybox of `imageRepository` unless set.",
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
            doc: "All that name the same one share it.",
            pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            maxLength: 63,
            rules: [{ rule: "self == oldSelf", message: "the shared etcd that holds the data cannot be changed" }],
          }),
        },
        {
          doc: "Process: keeps the data in an etcd that control planes of this machine share, below a prefix that only this one can read and write. `quotaBytes` is then what its objects may take, 256 MiB unless set.",
        },
      ),
    ),
    storage: optional(
      object(
        {
          type: optional(
            string({
              doc: "Where a member keeps its data: PersistentVolumeClaim by default; an EmptyDir is lost with its pod.",
              enum: ["PersistentVolumeClaim", "EmptyDir"],
            }),
          ),
          size: optional(string({ doc: "Of each member's volume, 8Gi unless set.", maxLength: 32 })),
          storageClassName: optional(string({ doc: "The host cluster's default class unless set.", maxLength: 253 })),
        },
        { doc: "Pods: storage of each etcd member." },
      ),
    ),
    backup: optional(
      object(
        {
          schedule: optional(
            string({ doc: "When to back up: five fields of cron, in UTC, such as `0 3 * * *`.", maxLength: 64 }),
          ),
          keep: optional(integer({ doc: "How many are kept.", minimum: 1, maximum: 1000, default: 7 })),
          s3: optional(s3),
        },
        { doc: "When backups of etcd are taken and where they are kept." },
      ),
    ),
    quotaBytes: optional(
      integer({
        doc: "How large the data may grow before etcd takes no more writes; 2 GiB unless set.",
        minimum: 16_777_216,
        maximum: 8_589_934_592,
        format: "int64",
      }),
    ),
    defragment: optional(
      object(
        {
          schedule: optional(
            string({ doc: "When to give unused space back: five fields of cron, in UTC.", maxLength: 64 }),
          ),
          unusedPercent: optional(
            integer({
              doc: "Also when this much of the data's files is unused; 50 unless set.",
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
              doc: "The HostedControlPlane of this namespace that the backup was made of, when it is another one.",
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
