import { access } from "node:fs/promises";
import type { Footprint } from "./footprint.ts";
import type { Task } from "./users.ts";
import { writeCloudFile } from "./write-file.ts";

interface TimeService {
  /** There if one of these is. */
  programs: string[];
  file: string;
  lines(servers: readonly string[]): string;
  append: boolean;
  units: string[];
}

/** In the order cloud-init looks for them. */
const SERVICES: TimeService[] = [
  {
    programs: ["/usr/sbin/chronyd", "/usr/bin/chronyd"],
    file: "/etc/chrony/chrony.conf",
    lines: (servers) => servers.map((server) => `server ${server} iburst\n`).join(""),
    append: true,
    units: ["chrony", "chronyd"],
  },
  {
    programs: ["/usr/lib/systemd/systemd-timesyncd", "/lib/systemd/systemd-timesyncd"],
    file: "/etc/systemd/timesyncd.conf.d/cloud-init.conf",
    lines: (servers) => `[Time]\nNTP=${servers.join(" ")}\n`,
    append: false,
    units: ["systemd-timesyncd"],
  },
];

const SERVER = /^[A-Za-z0-9.:_-]+$/;

/** Configures the NTP servers of the host's time service; throws when the host has none. */
export async function ntpTask(servers: readonly string[], footprint: Footprint, root: string): Promise<Task> {
  const wrong = servers.find((server) => !SERVER.test(server));
  if (wrong !== undefined) throw new Error(`ntp.servers: ${JSON.stringify(wrong)} is not a host name or an address`);
  const service = await firstThere(root);
  if (service === undefined)
    throw new Error("ntp: neither chrony nor systemd-timesyncd is on this host: install one, or remove ntp");
  const rhel = service.append && !(await exists(`${root}${service.file}`)) && (await exists(`${root}/etc/chrony.conf`));
  const path = rhel ? "/etc/chrony.conf" : service.file;
  await footprint.willWrite(path);
  const content = Buffer.from(service.lines(servers));
  await writeCloudFile({ path, content, owner: "root:root", permissions: "0644", append: service.append }, root);
  const restart = service.units.map((unit) => `systemctl try-restart ${unit}`).join(" || ");
  return { name: `time servers in ${path}`, command: `if [ -d /run/systemd/system ]; then ${restart}; fi` };
}

async function firstThere(root: string): Promise<TimeService | undefined> {
  for (const service of SERVICES)
    for (const program of service.programs) if (await exists(`${root}${program}`)) return service;
  return undefined;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
