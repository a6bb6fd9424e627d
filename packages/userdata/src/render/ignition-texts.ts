import type { UserData } from "../types.ts";

/** Contents of units and files as upstream has them; they are compared byte for byte, comments included. */

/** Returns the systemd unit that runs `/etc/kubeadm.sh` once at first boot. */
export function kubeadmService(): string {
  return `[Unit]
Description=kubeadm
# Run only once. After successful run, this file is moved to /tmp/.
ConditionPathExists=/etc/kubeadm.yml
After=network.target
[Service]
# To not restart the unit when it exits, as it is expected.
Type=oneshot
ExecStart=/etc/kubeadm.sh
[Install]
WantedBy=multi-user.target
`;
}

/** Returns the systemd unit of one mount. */
export function mountUnit(label: string, device: string, where: string, options: readonly string[]): string {
  return `[Unit]
Description = Mount ${label}

[Mount]
What=${device}
Where=${where}
Options=${options.join(",")}

[Install]
WantedBy=multi-user.target
`;
}

/** Returns the sshd configuration that allows password authentication for these users only. */
export function sshConfiguration(users: readonly string[]): string {
  return `# Use most defaults for sshd configuration.
Subsystem sftp internal-sftp
ClientAliveInterval 180
UseDNS no
UsePAM yes
PrintLastLog no # handled by PAM
PrintMotd no # handled by PAM

Match User ${users.join(",")}
  PasswordAuthentication yes
`;
}

/** Returns the script that kubeadm.service runs. */
export function kubeadmScript({
  kubeadm,
  preKubeadmCommands = [],
  postKubeadmCommands = [],
}: Pick<UserData, "kubeadm" | "preKubeadmCommands" | "postKubeadmCommands">): string {
  const verbosity = kubeadm.verbosity === undefined ? "" : `--v ${kubeadm.verbosity}`;
  const lines = (commands: readonly string[]): string => commands.map((command) => `\n${command}`).join("");
  return `#!/bin/bash
set -e
${lines(preKubeadmCommands)}

kubeadm ${kubeadm.action} --config /etc/kubeadm.yml ${verbosity}
mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete
mv /etc/kubeadm.yml /tmp/
${lines(postKubeadmCommands)}
`;
}

/** Returns the configuration of ntpd. */
export function ntpConfiguration(servers: readonly string[]): string {
  return `# Common pool
${servers.map((server) => `server ${server}`).join("\n")}

# Warning: Using default NTP settings will leave your NTP
# server accessible to all hosts on the Internet.

# If you want to deny all machines (including your own)
# from accessing the NTP server, uncomment:
#restrict default ignore

# Default configuration:
# - Allow only time queries, at a limited rate, sending KoD when in excess.
# - Allow all local queries (IPv4, IPv6)
restrict default nomodify nopeer noquery notrap limited kod
restrict 127.0.0.1
restrict [::1]
`;
}
