import { array, boolean, type Infer, integer, object, optional, string } from "@capstan/capi";

/** Parts with a letter or a digit: `.` and `..` would be removed from the URL. */
const S3_PREFIX = "^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*(/[._-]*[A-Za-z0-9][A-Za-z0-9._-]*)*$";
const OBJECT_NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";

const s3 = object(
  {
    endpoint: string({
      doc: "Address of an S3-compatible store, such as `https://s3.eu-central-1.amazonaws.com`.",
      pattern: "^https?://[^/?#@\\\\]+/?$",
      maxLength: 512,
    }),
    bucket: string({ doc: "Name of the bucket.", pattern: "^[a-z0-9][a-z0-9.-]*$", maxLength: 63 }),
    prefix: optional(string({ doc: "Prefix of the keys.", pattern: S3_PREFIX, maxLength: 512 })),
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

/** The fields of backup settings: when backups are taken, how many are kept, and where. */
export const backupFields = {
  schedule: optional(
    string({ doc: "When to back up: five fields of cron, in UTC, such as `0 3 * * *`.", maxLength: 64 }),
  ),
  keep: optional(integer({ doc: "How many backups are kept.", minimum: 1, maximum: 1000, default: 7 })),
  s3: optional(s3),
};

const settings = object(backupFields, { doc: "When backups of etcd are taken and where they are stored." });

/** When backups are taken and where they are stored. */
export type BackupSettings = Infer<typeof settings>;

/** Maximum number of backups that a status lists. */
export const LISTED_BACKUPS = 50;

/** The fields of a status that describe the backups of a control plane. */
export const backupStatusFields = {
  lastName: optional(string({ doc: "Name of the last backup, for restoring it.", maxLength: 128 })),
  lastTime: optional(string({ doc: "Time of the last backup.", maxLength: 64 })),
  lastSizeBytes: optional(integer({ doc: "Size of the last backup in bytes.", minimum: 0, format: "int64" })),
  count: optional(integer({ doc: "Number of backups that are kept.", minimum: 0 })),
  location: optional(string({ doc: "Where the backups are kept.", maxLength: 1024 })),
  listedTime: optional(string({ doc: "Time when the store was last listed; daily at least.", maxLength: 64 })),
  nextTime: optional(string({ doc: "Time when the next backup is due.", maxLength: 64 })),
  backups: optional(
    array(
      object(
        {
          name: string({ doc: "Name of the backup.", maxLength: 128 }),
          sizeBytes: integer({ doc: "Its size in bytes.", minimum: 0, format: "int64" }),
          otherCluster: optional(
            boolean({ doc: "Whether another cluster of the same name made it: its CA is another one." }),
          ),
        },
        { doc: "One backup." },
      ),
      { doc: "The newest backups, the newest last.", listType: "atomic", maxItems: LISTED_BACKUPS },
    ),
  ),
};

const status = object(backupStatusFields, { doc: "The backups of etcd." });

/** The backups of a control plane, as its status describes them. */
export type BackupStatus = Infer<typeof status>;
