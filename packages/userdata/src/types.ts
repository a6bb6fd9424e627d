/** Encoding of a file's content in user data. */
export type FileEncoding = "base64" | "gzip" | "gzip+base64";

/** A file to write on a machine. */
export interface UserDataFile {
  readonly path: string;
  readonly content: string;
  /** `user:group`. */
  readonly owner?: string | undefined;
  /** Octal, such as `0640`. */
  readonly permissions?: string | undefined;
  readonly encoding?: FileEncoding | undefined;
  readonly append?: boolean | undefined;
}

/** A user to create on a machine. */
export interface UserDataUser {
  readonly name: string;
  readonly passwd?: string | undefined;
  readonly gecos?: string | undefined;
  /** Separated by comma and space. */
  readonly groups?: string | undefined;
  readonly homeDir?: string | undefined;
  readonly inactive?: boolean | undefined;
  readonly lockPassword?: boolean | undefined;
  readonly shell?: string | undefined;
  readonly primaryGroup?: string | undefined;
  readonly sudo?: string | undefined;
  readonly sshAuthorizedKeys?: readonly string[] | undefined;
}

/** A partition table: a single partition (`layout`), or partitions by percentage of the disk. */
export interface UserDataPartition {
  readonly device: string;
  readonly layout?: boolean | undefined;
  readonly diskLayout?: readonly { percentage: number; partitionType?: string | undefined }[] | undefined;
  readonly overwrite?: boolean | undefined;
  readonly tableType?: string | undefined;
}

/** A file system to create. */
export interface UserDataFilesystem {
  readonly device: string;
  readonly filesystem: string;
  readonly label?: string | undefined;
  readonly partition?: string | undefined;
  readonly overwrite?: boolean | undefined;
  readonly replaceFS?: string | undefined;
  readonly extraOpts?: readonly string[] | undefined;
}

/** What a machine does at its first boot, independent of the format. */
export interface UserData {
  readonly files: readonly UserDataFile[];
  readonly bootCommands?: readonly string[] | undefined;
  readonly preKubeadmCommands?: readonly string[] | undefined;
  readonly postKubeadmCommands?: readonly string[] | undefined;
  readonly users?: readonly UserDataUser[] | undefined;
  readonly ntp?: { enabled?: boolean | undefined; servers?: readonly string[] | undefined } | undefined;
  readonly diskSetup?:
    | {
        partitions?: readonly UserDataPartition[] | undefined;
        filesystems?: readonly UserDataFilesystem[] | undefined;
      }
    | undefined;
  readonly mounts?: readonly (readonly string[])[] | undefined;
  readonly kubeadm: KubeadmStep;
}

/** Whether kubeadm initializes or joins a cluster. Configurations are YAML documents of kubeadm's types. */
export type KubeadmStep = { readonly verbosity?: number | undefined } & (
  | { readonly action: "init"; readonly clusterConfiguration: string; readonly initConfiguration: string }
  | { readonly action: "join"; readonly controlPlane: boolean; readonly joinConfiguration: string }
);
