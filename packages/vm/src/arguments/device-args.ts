import { escaped } from "./escaped.ts";
import { macAddress } from "./mac-address.ts";
import type { HostVolume, VmDisk, VmNetwork } from "./vm-spec.ts";

/** A disk as virtio-blk; those with a boot index are tried in its order. */
export function diskArgs(disk: VmDisk, node: string, bootIndex?: number): string[] {
  const { name, readOnly = false } = disk;
  const boot = bootIndex === undefined ? "" : `,bootindex=${bootIndex}`;
  return [
    // As JSON: only there a backing file can be denied.
    ["-blockdev", JSON.stringify({ "node-name": node, ...formatNode(disk) })],
    ["-device", `virtio-blk-pci,drive=${node},serial=${name}${boot}${readOnly ? "" : ",write-cache=on"}`],
  ].flat();
}

/**
 * What QEMU opens is named here, and nothing is read from the header of an image: otherwise an image from outside that names a
 * file of the host as its backing file would show that file to the guest.
 */
function formatNode({ file, format, base, readOnly = false, cache = "none" }: VmDisk): object {
  const direct = cache === "none";
  // A flush of the guest reaches the disk in both modes.
  const mode = { direct, "no-flush": false };
  const options = { driver: format, "read-only": readOnly, cache: mode, ...(readOnly ? {} : { discard: "unmap" }) };
  const aio = direct ? "native" : "threads";
  const storage = { ...options, driver: "file", filename: file, aio };
  if (format === "raw") return { ...options, file: storage };
  return { ...options, file: storage, backing: base === undefined ? null : baseNode(base, mode, aio) };
}

function baseNode({ file, format }: NonNullable<VmDisk["base"]>, cache: object, aio: string): object {
  const common = { "read-only": true, cache };
  const storage = { ...common, driver: "file", filename: file, aio };
  return { ...common, driver: format, file: storage, ...(format === "qcow2" ? { backing: null } : {}) };
}

/** A network device. Its address stays the same at every start. */
export function networkArgs(network: VmNetwork, index: number, uuid: string): string[] {
  const id = `net${index}`;
  const mac = network.mac ?? macAddress(uuid, index);
  return ["-netdev", backend(network, id), "-device", `virtio-net-pci,netdev=${id},mac=${mac},romfile=`];
}

function backend(network: VmNetwork, id: string): string {
  switch (network.type) {
    case "tap": {
      const vhost = network.vhost === true ? ",vhost=on" : "";
      return `tap,id=${id},ifname=${network.device},script=no,downscript=no${vhost}`;
    }
    case "user": {
      const forwards = (network.forwards ?? []).map(
        ({ hostAddress = "127.0.0.1", hostPort, guestPort }) => `,hostfwd=tcp:${hostAddress}:${hostPort}-:${guestPort}`,
      );
      return `user,id=${id},restrict=${network.open === true ? "off" : "on"}${forwards.join("")}`;
    }
    case "segment":
      return [
        `dgram,id=${id},local.type=inet,local.host=127.0.0.1,local.port=0`,
        `remote.type=inet,remote.host=${network.group},remote.port=${network.port}`,
      ].join(",");
  }
}

/** A folder of the host, for a guest that mounts it by its tag. */
export function volumeArgs(volume: HostVolume, index: number): string[] {
  const id = `volume${index}`;
  if (volume.driver === "virtiofs") {
    return [
      ["-chardev", `socket,id=${id},path=${escaped(volume.socket)}`],
      ["-device", `vhost-user-fs-pci,chardev=${id},tag=${volume.tag}`],
    ].flat();
  }
  const readOnly = volume.readOnly === true ? ",readonly=on" : "";
  return [
    "-fsdev",
    `local,id=${id},path=${escaped(volume.path)},security_model=none,multidevs=remap${readOnly}`,
    ["-device", `virtio-9p-pci,fsdev=${id},mount_tag=${volume.tag}`],
  ].flat();
}
