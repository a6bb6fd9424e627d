import { lstat, realpath } from "node:fs/promises";

/** Where a program finds its folder and its executable. */
const VIEW = "/run/capstan";

/** Directories that everybody may write to: each program gets its own, empty, in memory. */
const PRIVATE = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", "/run/user", "/run/shm", "/var/crash"];

/**
 * What a shell does as root in a mount namespace of its own before it becomes the program. Each step replaces the process or waits for
 * a tool, so that the pid, the pipe on fd 3 and the process group stay those that the supervisor knows. One
 * call makes all mounts, since each start of a tool costs milliseconds. Arguments: MOUNTS NAME UID GROUP… -- ARGUMENT…
 */
export const START_SCRIPT = `
set -eu
step=start
trap '[ $? = 0 ] || echo "Error: the program cannot be isolated: cannot $step" >&2' EXIT
mounts=$1 name=$2 user=$3
shift 3
while [ "$1" != -- ]; do
  step="join the control group $1"
  echo $$ > "$1/cgroup.procs"
  shift
done
shift
step="make its view of the file system"
mkdir -p ${VIEW}
mount -t tmpfs -o mode=755,nosuid,nodev,size=64k capstan ${VIEW}
printf '%s\\n' "$mounts" > ${VIEW}/mounts
mount -a -T ${VIEW}/mounts
cd ${VIEW}/program
# Where the root directory is not a mount point, as in a chroot, only file modes protect it from being written to.
mount -o remount,bind,ro,nosuid / 2>/dev/null || :
step="drop its privileges"
exec setpriv --reuid $user --regid $user --clear-groups --no-new-privs --inh-caps=-all --ambient-caps=-all \\
  --bounding-set=-all -- ${VIEW}/bin/$name "$@"
`;

/** Returns the mounts of a program in fstab format: its own folder, its executable, and nothing that owners could share. */
export async function viewMounts(folder: string, binDir: string, hidden: readonly string[]): Promise<string> {
  const lines = [
    entry(folder, `${VIEW}/program`, "none", "bind,nosuid,nodev,X-mount.mkdir"),
    entry(binDir, `${VIEW}/bin`, "none", "bind,ro,nosuid,nodev,X-mount.mkdir"),
  ];
  // Before /tmp, which may hold one of them.
  for (const path of hidden) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) lines.push(entry("capstan", real, "tmpfs", "mode=0,ro,nosuid,nodev,noexec,size=4k"));
  }
  for (const path of PRIVATE)
    if (await isDirectory(path)) lines.push(entry("capstan", path, "tmpfs", "mode=1777,nosuid,nodev,size=256m"));
  return lines.join("\n");
}

function entry(source: string, target: string, type: string, options: string): string {
  return `${escaped(source)} ${escaped(target)} ${type} ${options} 0 0`;
}

function escaped(path: string): string {
  return path.replaceAll(/[\\\s#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

async function isDirectory(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
