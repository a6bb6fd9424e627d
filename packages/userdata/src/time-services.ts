import { UserDataError } from "./errors.ts";

/** A program that keeps time, and how it is told its servers. */
export interface TimeService {
  /** Present if one of these exists. */
  readonly programs: readonly string[];
  readonly file: string;
  readonly lines: (servers: readonly string[]) => string;
  readonly append: boolean;
  readonly units: readonly string[];
}

/** In the order in which cloud-init looks for them. */
export const TIME_SERVICES: readonly TimeService[] = [
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

/** Throws unless all are names or addresses of servers. */
export function checkTimeServers(servers: readonly string[]): void {
  const wrong = servers.find((server) => !/^[A-Za-z0-9.:_-]+$/.test(server));
  if (wrong !== undefined)
    throw new UserDataError(`ntp.servers: ${JSON.stringify(wrong)} is not a host name or an address`);
}
