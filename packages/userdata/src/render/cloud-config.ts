import { goQuote } from "@capstan/apimachinery";
import type { UserData, UserDataFile, UserDataFilesystem, UserDataPartition, UserDataUser } from "../types.ts";
import { hasJinja, indent, plain, singleQuoted } from "./scalar.ts";

const HEADER = "## template: jinja\n#cloud-config\n\n";
const SENTINEL = "echo success > /run/cluster-api/bootstrap-success.complete";
/** Exists so that its folder is made on Linux and Windows alike. The text is part of the compared output. */
const PLACEHOLDER =
  "-   path: /run/cluster-api/placeholder\n    owner: root:root\n    permissions: '0640'\n    content: \"This placeholder file is used to create the /run/cluster-api sub directory in a way that is compatible with both Linux and Windows (mkdir -p /run/cluster-api does not work with Windows)\"";

/** Codes that cloud-init knows partition types by. */
const PARTITION_CODES: Record<string, string> = {
  Linux: "83",
  LinuxSwap: "82",
  LinuxRAID: "fd",
  LVM: "8e",
  Fat32: "0c",
  NTFS: "07",
  LinuxExtended: "85",
};

/** Renders cloud-config exactly as upstream's kubeadm bootstrap provider does. */
export function renderCloudConfig(data: UserData): string {
  return `${HEADER}write_files:${[...data.files, kubeadmFile(data)].map(fileText).join("")}\n${PLACEHOLDER}${[
    section(
      "bootcmd",
      data.bootCommands?.map((command) => `\n  - ${goQuote(command)}`),
    ),
    runCommands(data),
    ntpText(data.ntp),
    section("users", data.users?.map(userText)),
    ...diskTexts(data.diskSetup),
    section(
      "mounts",
      data.mounts?.map((mount) => `\n  - ${mount.map((field) => `- ${plain(field)}\n    `).join("")}`),
    ),
  ].join("")}\n`;
}

function section(name: string, items: readonly string[] | undefined): string {
  return items === undefined || items.length === 0 ? "" : `\n${name}:${items.join("")}`;
}

/** kubeadm's configuration. Upstream puts the document mark before all but the one for joining control planes. */
function kubeadmFile({ kubeadm }: UserData): UserDataFile {
  const ownership = { owner: "root:root", permissions: "0640" };
  if (kubeadm.action === "init")
    return {
      path: "/run/kubeadm/kubeadm.yaml",
      ...ownership,
      content: `---\n${kubeadm.clusterConfiguration}\n---\n${kubeadm.initConfiguration}`,
    };
  const mark = kubeadm.controlPlane ? "" : "---\n";
  return {
    path: "/run/kubeadm/kubeadm-join-config.yaml",
    ...ownership,
    content: `${mark}${kubeadm.joinConfiguration}`,
  };
}

function fileText(file: UserDataFile): string {
  const { content, encoding } = representable(file);
  const fields = [
    `path: ${plain(file.path)}`,
    ...(encoding === undefined ? [] : [`encoding: "${encoding}"`]),
    ...(file.owner === undefined ? [] : [`owner: ${plain(file.owner)}`]),
    ...(file.permissions === undefined ? [] : [`permissions: ${singleQuoted(file.permissions)}`]),
    ...(file.append === undefined ? [] : [`append: ${file.append}`]),
    // Without the indicator YAML takes the first line's own spaces for indentation.
    `content: |${/^\n* /.test(content) ? "2" : ""}`,
  ];
  return `\n-   ${fields.join("\n    ")}\n${indent(content, 6)}`;
}

/** Characters that no YAML block can hold make upstream's output unreadable; such content goes as base64. */
function representable(file: UserDataFile): { content: string; encoding: string | undefined } {
  const unprintable = /(?![\t\n])[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u;
  if (file.encoding !== undefined || !unprintable.test(file.content) || hasJinja(file.content))
    return { content: file.content, encoding: file.encoding };
  return { content: Buffer.from(file.content).toString("base64"), encoding: "base64" };
}

function runCommands({ kubeadm, preKubeadmCommands, postKubeadmCommands }: UserData): string {
  const verbosity = kubeadm.verbosity === undefined ? "" : `--v ${kubeadm.verbosity}`;
  const line =
    kubeadm.action === "init"
      ? `'kubeadm init --config /run/kubeadm/kubeadm.yaml ${verbosity} && ${SENTINEL}'`
      : `kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml ${verbosity} && ${SENTINEL}`;
  const quoted = (commands: readonly string[] | undefined): string[] => (commands ?? []).map(goQuote);
  return `\nruncmd:${[...quoted(preKubeadmCommands), line, ...quoted(postKubeadmCommands)]
    .map((command) => `\n  - ${command}`)
    .join("")}`;
}

function ntpText(ntp: UserData["ntp"]): string {
  if (ntp === undefined || (ntp.enabled === undefined && (ntp.servers ?? []).length === 0)) return "";
  const enabled = ntp.enabled === undefined ? "" : `enabled: ${ntp.enabled}\n  `;
  return `\nntp:\n  ${enabled}servers:${(ntp.servers ?? []).map((server) => `\n    - ${plain(server)}`).join("")}`;
}

function userText(user: UserDataUser): string {
  const fields: [string, string | boolean | undefined][] = [
    ["passwd", user.passwd],
    ["gecos", user.gecos],
    ["groups", user.groups],
    ["homedir", user.homeDir],
    ["inactive", user.inactive],
    ["lock_passwd", user.lockPassword],
    ["shell", user.shell],
    ["primary_group", user.primaryGroup],
    ["sudo", user.sudo],
  ];
  const lines = fields.flatMap(([name, value]) => {
    if (value === undefined || value === "") return [];
    return [`\n    ${name}: ${typeof value === "string" ? plain(value) : value}`];
  });
  const keys = (user.sshAuthorizedKeys ?? []).map((key) => `\n      - ${plain(key)}`).join("");
  return `\n  - name: ${plain(user.name)}${lines.join("")}${keys === "" ? "" : `\n    ssh_authorized_keys:${keys}`}`;
}

/** Both keys appear as soon as either has something, as upstream does. */
function diskTexts(setup: UserData["diskSetup"]): string[] {
  const { partitions = [], filesystems = [] } = setup ?? {};
  if (partitions.length === 0 && filesystems.length === 0) return [];
  return [
    `\ndisk_setup:${partitions.map(partitionText).join("")}`,
    `\nfs_setup:${filesystems.map(filesystemText).join("")}`,
  ];
}

function partitionText(partition: UserDataPartition): string {
  const table = partition.tableType === undefined ? "" : `\n    table_type: ${partition.tableType}`;
  const shares = (partition.diskLayout ?? []).map(({ percentage, partitionType }) =>
    partitionType === undefined
      ? `\n      - ${percentage}`
      : `\n      - [${percentage}, ${PARTITION_CODES[partitionType] ?? partitionType}]`,
  );
  const layout = shares.length > 0 ? `\n    layout:${shares.join("")}` : `\n    layout: ${partition.layout ?? false}`;
  const overwrite = partition.overwrite === undefined ? "" : `\n    overwrite: ${partition.overwrite}`;
  return `\n  ${plain(partition.device)}:${table}${layout}${overwrite}`;
}

function filesystemText(filesystem: UserDataFilesystem): string {
  const line = (name: string, value: string | boolean | undefined): string =>
    value === undefined ? "" : `\n    ${name}: ${typeof value === "string" ? plain(value) : value}`;
  const options = (filesystem.extraOpts ?? []).map((option) => `\n      - ${plain(option)}`).join("");
  return [
    `\n  - label: ${filesystem.label === undefined ? "" : plain(filesystem.label)}`,
    line("filesystem", filesystem.filesystem),
    line("device", filesystem.device),
    // A number stays one, as upstream writes it.
    /^\d+$/.test(filesystem.partition ?? "")
      ? `\n    partition: ${filesystem.partition}`
      : line("partition", filesystem.partition),
    line("overwrite", filesystem.overwrite),
    line("replace_fs", filesystem.replaceFS),
    options === "" ? "" : `\n    extra_opts:${options}`,
  ].join("");
}
