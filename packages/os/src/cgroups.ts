import { join, posix } from "node:path";

/** One cgroup hierarchy of the machine: v1 has one per controller, v2 a single one. */
export interface Hierarchy {
  /** As in /proc/PID/cgroup: `memory`, `name=systemd`, or empty for v2. */
  readonly controllers: string;
  readonly mountPoint: string;
  /** Root of the mount inside the hierarchy, `/` unless the machine is itself a container. */
  readonly root: string;
}

/** Parses the machine's cgroup hierarchies from the content of /proc/self/mountinfo. */
export function parseHierarchies(mountinfo: string): Hierarchy[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mountPoint = ""] = before.split(" ");
    const [type = "", , options = ""] = after.split(" ");
    if (type === "cgroup2") return [{ controllers: "", mountPoint, root }];
    if (type !== "cgroup") return [];
    const controllers = options.split(",").filter((each) => !["rw", "ro", "xattr", "clone_children"].includes(each));
    return [{ controllers: controllers.join(","), mountPoint, root }];
  });
}

/** Parses the cgroup folders of a process per hierarchy from the content of /proc/PID/cgroup. */
export function foldersOf(hierarchies: readonly Hierarchy[], cgroupFile: string): Map<Hierarchy, string> {
  const folders = new Map<Hierarchy, string>();
  for (const line of cgroupFile.trim().split("\n")) {
    const [, controllers = "", ...rest] = line.split(":");
    const hierarchy = hierarchies.find((each) => each.controllers === controllers);
    if (hierarchy === undefined) continue;
    folders.set(hierarchy, join(hierarchy.mountPoint, posix.relative(hierarchy.root, rest.join(":"))));
  }
  return folders;
}
