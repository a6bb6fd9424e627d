import { mkdir, readFile } from "node:fs/promises";
import type { Footprint } from "./footprint.ts";
import type { Task } from "./users.ts";
import { writeCloudFile } from "./write-file.ts";

const FSTAB = "/etc/fstab";

/** Lists the requested mounts that are not supported: swap, devices that exist only in clouds, and relative mount points. */
export function unsupportedInMounts(mounts: readonly (readonly string[])[]): string[] {
  return mounts.flatMap(([device = "", target = "", type = "auto"], index) => {
    if (type === "swap" || target === "none" || target === "swap") return [`mounts[${index}] (swap)`];
    if (/^(ephemeral|root|ami)\d*/.test(device)) return [`mounts[${index}] (${device} is a cloud device)`];
    return target.startsWith("/") ? [] : [`mounts[${index}] (${JSON.stringify(target)} is not an absolute path)`];
  });
}

/** Adds a mount to fstab, as cloud-init does, and returns the command that mounts it. */
export async function mountTask(mount: readonly string[], footprint: Footprint, root: string): Promise<Task> {
  const [device = "", target = "", type = "auto", options = "defaults,nofail", dump = "0", pass = "2"] = mount;
  const source = /^[a-z]+[a-z0-9]*$/.test(device) ? `/dev/${device}` : device;
  await footprint.willMakeFolder(target);
  await footprint.willWrite(FSTAB);
  await mkdir(`${root}${target}`, { recursive: true });
  const before = await readFile(`${root}${FSTAB}`, "utf8").catch(() => "");
  const line = [source, target, type, options, dump, pass].map(field).join("\t");
  const kept = before.split("\n").filter((text) => text !== "" && text.split(/\s+/)[1] !== field(target));
  const content = Buffer.from(`${[...kept, line].join("\n")}\n`);
  await writeCloudFile({ path: FSTAB, content, owner: "root:root", permissions: "0644", append: false }, root);
  footprint.willMount(target);
  return { name: `mount ${target}`, command: ["mount", target] };
}

/** Blanks are written as octal in fstab. */
function field(text: string): string {
  return text.replaceAll(" ", "\\040").replaceAll("\t", "\\011");
}
