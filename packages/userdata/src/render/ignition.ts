import { trimEndOf } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";
import type { UserData, UserDataFile, UserDataUser } from "../types.ts";
import { translateContainerLinuxConfig } from "./container-linux-config.ts";
import { dataUrl } from "./data-url.ts";
import { ignitionJson } from "./ignition-shape.ts";
import { kubeadmScript, kubeadmService, mountUnit, ntpConfiguration, sshConfiguration } from "./ignition-texts.ts";

type Json = Record<string, unknown>;

/** What an Ignition config can contain in addition to the user data. */
export interface IgnitionOptions {
  /** Container Linux Config merged on top. */
  additionalConfig?: string | undefined;
  /** Whether warnings about it are errors. */
  strict?: boolean | undefined;
}

/** Renders Ignition 2.3 exactly as upstream's kubeadm bootstrap provider does. Throws UserDataError. */
export function renderIgnition(data: UserData, options: IgnitionOptions = {}): string {
  const base: Json = {
    ignition: { version: "2.3.0" },
    passwd: { users: (data.users ?? []).map(passwdUser) },
    storage: {
      disks: (data.diskSetup?.partitions ?? []).map(({ device, layout, overwrite }) => ({
        device,
        wipeTable: overwrite,
        ...(layout === true ? { partitions: [{}] } : {}),
      })),
      files: files(data),
      filesystems: (data.diskSetup?.filesystems ?? []).map(({ device, filesystem, label, overwrite, extraOpts }) => ({
        name: label,
        mount: { device, format: filesystem, label, options: extraOpts, wipeFilesystem: overwrite },
      })),
    },
    systemd: { units: units(data) },
  };
  if (options.additionalConfig === undefined) return ignitionJson(base);
  return ignitionJson(append(base, translateContainerLinuxConfig(options.additionalConfig, options.strict === true)));
}

/** Ignition's own way to add a config: lists one after the other, parts recursively, anything else replaced. */
function append(old: Json, added: Json): Json {
  const out: Json = { ...old };
  for (const [key, value] of Object.entries(added)) {
    const before = old[key];
    if (Array.isArray(before) && Array.isArray(value)) out[key] = [...(before as unknown[]), ...(value as unknown[])];
    else if (isPart(before) && isPart(value)) out[key] = append(before, value);
    else out[key] = value;
  }
  return out;
}

function isPart(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function passwdUser(user: UserDataUser): Json {
  return {
    name: user.name,
    gecos: user.gecos,
    groups: user.groups?.split(", "),
    homeDir: user.homeDir,
    shell: user.shell,
    passwordHash: user.passwd,
    primaryGroup: user.primaryGroup,
    sshAuthorizedKeys: user.sshAuthorizedKeys,
  };
}

function units({ ntp, mounts, diskSetup }: UserData): Json[] {
  const devices = new Map((diskSetup?.filesystems ?? []).map(({ label, device }) => [label ?? "", device]));
  return [
    { name: "kubeadm.service", enabled: true, contents: kubeadmService() },
    ...(ntp?.enabled !== true ? [] : [{ name: "ntpd.service", enabled: true }]),
    ...(mounts ?? []).map(([label, where, ...mountOptions]) => {
      if (label === undefined || where === undefined)
        throw new UserDataError("mounts: Ignition needs a file system label and a mount point in each");
      const name = where.replaceAll("/", "-").replace(/^-/, "");
      const contents = mountUnit(label, devices.get(label) ?? "", where, mountOptions);
      return { name: `${name}.mount`, enabled: true, contents };
    }),
  ];
}

function files({ users = [], ntp, files: given, ...data }: UserData): Json[] {
  const withPassword = users.filter(({ lockPassword }) => lockPassword === false).map(({ name }) => name);
  const { kubeadm } = data;
  const config =
    kubeadm.action === "init"
      ? `${kubeadm.clusterConfiguration}\n---\n${kubeadm.initConfiguration}`
      : kubeadm.joinConfiguration;
  const servers = ntp?.servers ?? [];
  return [
    ...users.flatMap(({ name, sudo }) =>
      sudo === undefined ? [] : [textFile(`/etc/sudoers.d/${name}`, 0o600, `${name} ${sudo}`)],
    ),
    ...(withPassword.length === 0 ? [] : [textFile("/etc/ssh/sshd_config", 0o600, sshConfiguration(withPassword))]),
    ...given.map(writtenFile),
    textFile("/etc/kubeadm.sh", 0o700, kubeadmScript(data)),
    textFile("/etc/kubeadm.yml", 0o600, `---\n${config}`),
    ...(ntp?.enabled !== true || servers.length === 0
      ? []
      : [textFile("/etc/ntp.conf", 0o644, ntpConfiguration(servers))]),
  ];
}

/** Texts end with exactly one line end, as a YAML block gives them. */
function textFile(path: string, mode: number, text: string): Json {
  return { filesystem: "root", path, mode, contents: { source: dataUrl(clipped(text)) } };
}

function clipped(text: string): string {
  const body = trimEndOf(text, "\n");
  return body === "" ? "" : `${body}\n`;
}

function writtenFile(file: UserDataFile): Json {
  if (file.encoding === "gzip" || file.encoding === "gzip+base64")
    throw new UserDataError(`file ${file.path}: Ignition takes no ${file.encoding} content`);
  const [user, group] = (file.owner ?? "").split(":").map((part) => part.trim());
  const content = file.encoding === "base64" ? Buffer.from(file.content, "base64") : clipped(file.content);
  return {
    filesystem: "root",
    path: file.path,
    ...(user === undefined || user === "" ? {} : { user: { name: user } }),
    ...(group === undefined || group === "" ? {} : { group: { name: group } }),
    mode: file.permissions === undefined ? 0o644 : Number.parseInt(file.permissions, 8),
    contents: { source: dataUrl(content) },
  };
}
