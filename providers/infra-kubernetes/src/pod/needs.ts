import { isObject } from "@capstan/apimachinery";
import { nodeVolumes } from "./defaults.ts";
import type { Container, PodSpec, SecurityContext, Volume } from "./shape.ts";

/** Sources of volumes that nothing can be written to. */
const READ_ONLY = ["configMap", "secret", "projected", "downwardAPI", "image"];
const WRITTEN = nodeVolumes(true, false);
const MESSAGE_PATH = "/dev/termination-log";

/** Returns what of a node's needs a template takes away: systemd, containerd or the kubelet would fail later, for reasons hard to find. */
export function needProblems(spec: PodSpec, node: Container | undefined): string[] {
  const of = `containers ${node?.name ?? "node"}`;
  const pod = isObject(spec["securityContext"]) ? (spec["securityContext"] as SecurityContext) : {};
  const context = node?.securityContext ?? {};
  const os = isObject(spec["os"]) ? spec["os"]["name"] : undefined;
  return [
    ...(os === undefined || os === "linux" ? [] : ["os is refused: nodes run Linux"]),
    ...userProblems(pod, "securityContext"),
    ...userProblems(context, `${of}: securityContext`),
    ...(context["readOnlyRootFilesystem"] === true
      ? [`${of}: readOnlyRootFilesystem is refused: the node writes its configuration to /etc`]
      : []),
    ...(lacksPrivileges(spec, context)
      ? [
          `${of}: privileged: false is refused: the node mounts file systems; set hostUsers: false or a runtimeClassName as well`,
        ]
      : []),
    ...(node?.["startupProbe"] === undefined
      ? []
      : [`${of}: startupProbe is refused: the node's own reports that the bootstrap script has succeeded`]),
    ...(node?.["terminationMessagePath"] === undefined || node["terminationMessagePath"] === MESSAGE_PATH
      ? []
      : [`${of}: terminationMessagePath is refused: the node reports a failure in ${MESSAGE_PATH}`]),
    ...folderProblems(spec, node),
  ];
}

/** systemd, containerd and the kubelet run as root, in a user namespace too. */
function userProblems(context: SecurityContext, where: string): string[] {
  const user = context["runAsUser"];
  return [
    ...(context["runAsNonRoot"] === true ? [`${where}.runAsNonRoot is refused: a node runs as root`] : []),
    ...(user === undefined || user === 0 ? [] : [`${where}.runAsUser is refused: a node runs as root`]),
  ];
}

function lacksPrivileges(spec: PodSpec, { privileged, capabilities }: SecurityContext): boolean {
  if (privileged !== false || spec["hostUsers"] === false || spec["runtimeClassName"] !== undefined) return false;
  return !(capabilities?.add ?? []).some((name) => ["ALL", "SYS_ADMIN", "CAP_SYS_ADMIN"].includes(name));
}

/** A volume takes the place of the node's own by its name or by where it is mounted. */
function folderProblems(spec: PodSpec, node: Container | undefined): string[] {
  const mounts = node?.volumeMounts ?? [];
  const volumes = spec.volumes ?? [];
  return WRITTEN.flatMap(({ mountPath, volume }) => {
    const mount = mounts.find((each) => each.mountPath.replace(/\/+$/, "") === mountPath);
    const name = mount?.name ?? volume.name;
    const isReadOnly =
      mount?.["readOnly"] === true || volumes.some((each) => each.name === name && cannotBeWritten(each));
    return isReadOnly ? [`volumes ${name}: the node writes to ${mountPath}, where this volume is read-only`] : [];
  });
}

function cannotBeWritten(volume: Volume): boolean {
  return READ_ONLY.some((source) => volume[source] !== undefined);
}
