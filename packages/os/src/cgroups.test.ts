import { expect, test } from "vitest";
import { foldersOf, parseHierarchies } from "./cgroups.ts";

const v1 = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:7 - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`;

test("v1 hierarchies are found with their controllers, joined ones as one", () => {
  expect(parseHierarchies(v1)).toEqual([
    { controllers: "cpu,cpuacct", mountPoint: "/sys/fs/cgroup/cpu,cpuacct", root: "/" },
    { controllers: "name=systemd", mountPoint: "/sys/fs/cgroup/systemd", root: "/" },
    { controllers: "", mountPoint: "/sys/fs/cgroup/unified", root: "/" },
  ]);
});

test("the v2 hierarchy of current distributions is one without controllers in its name", () => {
  const text = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot";
  expect(parseHierarchies(text)).toEqual([{ controllers: "", mountPoint: "/sys/fs/cgroup", root: "/" }]);
});

test("folders of a process follow its paths; hierarchies that are not mounted are left out", () => {
  const cgroup = "9:name=systemd:/\n4:cpu,cpuacct:/a/b:c\n3:memory:/x\n0::/user.slice\n";
  expect([...foldersOf(parseHierarchies(v1), cgroup).values()]).toEqual([
    "/sys/fs/cgroup/systemd",
    "/sys/fs/cgroup/cpu,cpuacct/a/b:c",
    "/sys/fs/cgroup/unified/user.slice",
  ]);
});

test("inside a container the mount shows a part of the hierarchy only", () => {
  const text = "30 23 0:26 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
  expect([...foldersOf(parseHierarchies(text), "4:memory:/docker/abc/child").values()]).toEqual([
    "/sys/fs/cgroup/memory/child",
  ]);
});
