import { array, boolean, documented, type Infer, integer, object, optional, string } from "../schema/schema.ts";
import { clusterConfiguration } from "./kubeadm-cluster-configuration.ts";
import { initConfiguration, joinConfiguration } from "./kubeadm-node-configuration.ts";

const text = (doc: string, maxLength: number) => optional(string({ doc, minLength: 1, maxLength }));
const list = (doc: string, maxItems: number, maxLength: number) =>
  array(string({ minLength: 1, maxLength }), { doc, maxItems });
const commands = (doc: string) =>
  optional(array(string({ minLength: 1, maxLength: 10240 }), { doc, minItems: 1, maxItems: 1000 }));

const secretKey = object(
  {
    secret: object(
      {
        name: string({ doc: "Name of the Secret.", minLength: 1, maxLength: 253 }),
        key: string({ doc: "Key in the Secret.", minLength: 1, maxLength: 256 }),
      },
      { doc: "The Secret and its key." },
    ),
  },
  { doc: "A key of a Secret in the same namespace." },
);

const file = object(
  {
    path: string({ doc: "Path of the file on the node.", minLength: 1, maxLength: 512 }),
    owner: text("Owner of the file in the form user:group.", 256),
    permissions: text('Mode, such as "0640".', 16),
    encoding: optional(string({ doc: "How content is encoded.", enum: ["base64", "gzip", "gzip+base64"] })),
    append: optional(boolean({ doc: "Whether the content is appended to an existing file." })),
    content: text("Content of the file.", 10240),
    contentFrom: optional(documented(secretKey, "Source of the content, instead of content.")),
    contentFormat: optional(
      string({ doc: "Raw, or a Go template that can use .controlPlane.version.", enum: ["Raw", "Template"] }),
    ),
  },
  { doc: "A file that is written to the machine." },
);

const PARTITION_TYPE =
  "^(Linux|LinuxSwap|LinuxRAID|LVM|Fat32|NTFS|LinuxExtended|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$";

const partition = object(
  {
    device: string({ doc: "The disk.", minLength: 1, maxLength: 256 }),
    layout: optional(boolean({ doc: "Whether to create one partition for the whole disk." })),
    diskLayout: optional(
      array(
        object(
          {
            percentage: integer({ doc: "Its share of the disk.", minimum: 1, maximum: 100 }),
            partitionType: optional(
              string({
                doc: "Its type.",
                minLength: 1,
                maxLength: 36,
                rules: [
                  {
                    rule: `self.matches('${PARTITION_TYPE}')`,
                    message:
                      "partitionType must be one of Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID",
                  },
                ],
              }),
            ),
          },
          { doc: "One partition." },
        ),
        { doc: "Partitions by percentage.", minItems: 1, maxItems: 100 },
      ),
    ),
    overwrite: optional(boolean({ doc: "Whether existing data on the disk may be overwritten." })),
    tableType: optional(string({ doc: "Kind of partition table.", enum: ["mbr", "gpt"] })),
  },
  {
    doc: "The partition table of one disk.",
    rules: [
      {
        rule: "[has(self.layout),has(self.diskLayout)].filter(x,x==true).size() == 1",
        message: "exactly one of the fields in [layout diskLayout] must be set",
      },
    ],
  },
);

const filesystem = object(
  {
    device: string({ doc: "The disk or partition.", minLength: 1, maxLength: 256 }),
    filesystem: string({ doc: "Kind of file system.", minLength: 1, maxLength: 128 }),
    label: text("Its label.", 512),
    partition: text("auto, any, none or a number.", 128),
    overwrite: optional(boolean({ doc: "Whether an existing file system may be overwritten." })),
    replaceFS: text("Replace only a file system of this kind.", 128),
    extraOpts: optional(list("More options of mkfs.", 100, 256)),
  },
  { doc: "A file system that is created on a disk or partition." },
);

const user = object(
  {
    name: string({ doc: "Login name.", minLength: 1, maxLength: 256 }),
    gecos: text("GECOS field of the user, such as the full name.", 256),
    groups: text("More groups, separated by comma and space.", 256),
    homeDir: text("Home folder.", 256),
    inactive: optional(boolean({ doc: "Whether the account is disabled." })),
    shell: text("Login shell.", 256),
    passwd: text("Hash of the password.", 256),
    passwdFrom: optional(documented(secretKey, "Source of the hash of the password, instead of passwd.")),
    primaryGroup: text("Main group.", 256),
    lockPassword: optional(boolean({ doc: "Whether login by password is disabled." })),
    sudo: text("Rule for sudo.", 256),
    sshAuthorizedKeys: optional(list("SSH public keys that may log in.", 100, 2048)),
  },
  { doc: "A user account that is created on the machine." },
);

/** Schema of KubeadmConfig.spec, which KubeadmConfigTemplate and KubeadmControlPlane contain too. */
export const kubeadmConfigSpec = object(
  {
    clusterConfiguration: optional(clusterConfiguration),
    initConfiguration: optional(initConfiguration),
    joinConfiguration: optional(joinConfiguration),
    files: optional(array(file, { doc: "Files written before kubeadm runs.", minItems: 1, maxItems: 200 })),
    diskSetup: optional(
      object(
        {
          partitions: optional(array(partition, { doc: "Partition tables.", maxItems: 100 })),
          filesystems: optional(array(filesystem, { doc: "File systems.", maxItems: 100 })),
        },
        { doc: "Partitions and file systems that are created at the first boot.", minProperties: 1 },
      ),
    ),
    mounts: optional(
      array(array(string({ minLength: 1, maxLength: 512 }), { minItems: 1, maxItems: 100 }), {
        doc: "Mounts, each a list of the fields of fstab.",
        minItems: 1,
        maxItems: 100,
      }),
    ),
    bootCommands: commands("Run very early at every boot (cloud-init's bootcmd)."),
    preKubeadmCommands: commands("Run before kubeadm."),
    postKubeadmCommands: commands("Run after kubeadm succeeded."),
    users: optional(array(user, { doc: "Users to create.", minItems: 1, maxItems: 100 })),
    ntp: optional(
      object(
        {
          servers: optional(list("Time servers.", 100, 512)),
          enabled: optional(boolean({ doc: "Whether time synchronization is enabled." })),
        },
        { doc: "Time synchronization of the machine.", minProperties: 1 },
      ),
    ),
    format: optional(
      string({ doc: "Format of the data; cloud-config if absent.", enum: ["cloud-config", "ignition"] }),
    ),
    verbosity: optional(integer({ doc: "kubeadm's --v." })),
    ignition: optional(
      object(
        {
          containerLinuxConfig: optional(
            object(
              {
                additionalConfig: text("Container Linux Config merged on top.", 32768),
                strict: optional(boolean({ doc: "Whether warnings about it are errors." })),
              },
              { doc: "Additional Container Linux Config.", minProperties: 1 },
            ),
          ),
        },
        { doc: "Settings that apply only when the format is ignition.", minProperties: 1 },
      ),
    ),
  },
  { doc: "How a machine becomes a node." },
);

/** KubeadmConfig.spec: kubeadm's configuration, and the files, users, disks and commands of a new node. */
export type KubeadmConfigSpec = Infer<typeof kubeadmConfigSpec>;
/** A file that is written to the node before kubeadm runs. */
export type KubeadmFile = Infer<typeof file>;
/** A user that is created on the node. */
export type KubeadmUser = Infer<typeof user>;
