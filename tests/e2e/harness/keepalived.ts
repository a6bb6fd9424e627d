import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheDir } from "../../real-kubernetes/index.ts";
import { writeDockerArchive } from "./docker-archive.ts";
import { ImageTree } from "./image-tree.ts";
import type { Image } from "./images.ts";
import { ensureRootfs } from "./rootfs.ts";

/** What keepalived starts, and what its checks call. */
const programs = ["/usr/sbin/keepalived", "/usr/bin/curl", "/bin/dash", "/bin/cat"];

/** An image with Debian's keepalived, which holds the virtual IP of a control plane; `sh` and `curl` are for its checks. */
export async function ensureKeepalived(): Promise<Image> {
  return await ensure({ name: "keepalived", reference: "capstan.dev/e2e-keepalived:1" });
}

/**
 * What stands in for kube-vip of 2022: an image of that name that takes its arguments and environment, in which keepalived holds the
 * address. kube-vip itself was not built: its Go module could not be verified against the checksum database.
 */
export async function ensureKubeVip(): Promise<Image> {
  return await ensure({ name: "kube-vip", reference: "ghcr.io/kube-vip/kube-vip:v0.3.5", entrypoint: AS_KUBE_VIP });
}

const AS_KUBE_VIP = `#!/bin/sh
if [ "$1" != start ] || [ "$vip_arp" != true ]; then
  echo "only: start, with vip_arp=true" >&2
  exit 2
fi
cat > /etc/keepalived/keepalived.conf << CONFIGURATION
vrrp_instance endpoint {
  state BACKUP
  interface $vip_interface
  virtual_router_id 51
  priority 100
  advert_int 1
  virtual_ipaddress {
    $vip_address/32
  }
}
CONFIGURATION
exec keepalived --dont-fork --log-console --log-detail
`;

async function ensure(wanted: { name: string; reference: string; entrypoint?: string }): Promise<Image> {
  const { name, reference, entrypoint } = wanted;
  const rootfs = await ensureRootfs({ extraPackages: ["keepalived"] });
  const key = createHash("sha256")
    .update(JSON.stringify([rootfs, programs, entrypoint ?? ""]))
    .digest("hex")
    .slice(0, 12);
  const archive = join(cacheDir(), "e2e", `image-${name}-${key}.tar`);
  if (!existsSync(archive)) {
    const tree = await new ImageTree(rootfs).mergedUsr().debian(...programs);
    tree.link("usr/bin/sh", "dash").text("etc/passwd", "root:x:0:0:root:/:/bin/sh\n").text("etc/group", "root:x:0:\n");
    for (const folder of ["proc", "sys", "dev", "run", "etc/keepalived"]) tree.folder(folder);
    if (entrypoint !== undefined) tree.script("entrypoint", entrypoint);
    mkdirSync(join(cacheDir(), "e2e"), { recursive: true });
    writeDockerArchive(archive, {
      reference,
      entries: tree.folder("tmp", 0o1777).entries(),
      entrypoint: [entrypoint === undefined ? "/usr/sbin/keepalived" : "/entrypoint"],
    });
  }
  return { reference, archive };
}
