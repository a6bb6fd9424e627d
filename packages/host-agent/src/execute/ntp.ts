import { access } from "node:fs/promises";
import { checkTimeServers, TIME_SERVICES, type TimeService } from "@capstan/userdata";
import type { Footprint } from "./footprint.ts";
import type { Task } from "./users.ts";
import { writeCloudFile } from "./write-file.ts";

/** Configures the NTP servers of the host's time service; throws when the host has none. */
export async function ntpTask(servers: readonly string[], footprint: Footprint, root: string): Promise<Task> {
  checkTimeServers(servers);
  const service = await firstThere(root);
  if (service === undefined)
    throw new Error("ntp: neither chrony nor systemd-timesyncd is installed on this host: install one, or remove ntp");
  const rhel = service.append && !(await exists(`${root}${service.file}`)) && (await exists(`${root}/etc/chrony.conf`));
  const path = rhel ? "/etc/chrony.conf" : service.file;
  await footprint.willWrite(path);
  const content = Buffer.from(service.lines(servers));
  await writeCloudFile({ path, content, owner: "root:root", permissions: "0644", append: service.append }, root);
  const restart = service.units.map((unit) => `systemctl try-restart ${unit}`).join(" || ");
  return { name: `time servers in ${path}`, command: `if [ -d /run/systemd/system ]; then ${restart}; fi` };
}

async function firstThere(root: string): Promise<TimeService | undefined> {
  for (const service of TIME_SERVICES)
    for (const program of service.programs) if (await exists(`${root}${program}`)) return service;
  return undefined;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
