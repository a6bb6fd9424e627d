/** The user that a QEMU runs as, when the manager is root. */
export interface VmUser {
  uid: number;
  /** Such as the group that may open /dev/kvm. */
  groups: readonly number[];
}

/** The command that runs a program as a user without any capability; setpriv becomes the program, which keeps its pid. */
export function asUser(user: VmUser, command: string, args: readonly string[]): { command: string; args: string[] } {
  const groups = user.groups.length === 0 ? ["--clear-groups"] : ["--groups", user.groups.join(",")];
  const ids = ["--reuid", String(user.uid), "--regid", String(user.uid)];
  return { command: "setpriv", args: [...ids, ...groups, "--inh-caps=-all", "--no-new-privs", "--", command, ...args] };
}
