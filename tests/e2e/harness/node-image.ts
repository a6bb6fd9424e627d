import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildNodeImage } from "@capstan/node-image";
import { cacheDir, defaultKubernetesVersion } from "../../real-kubernetes/index.ts";
import { type Image, type Images, workerImages } from "./images.ts";
import { ensureRootfs } from "./rootfs.ts";

const sources = fileURLToPath(new URL("../../../packages/node-image/src/", import.meta.url));

/** The image of machines that are pods, with what workers need inside, as `capstan node-image build` makes it. Kept in the cache. */
export async function ensureNodeImage(bin: string, images: Images): Promise<Image> {
  const existing = await ensureRootfs();
  const archives = [...workerImages, "proxy-agent" as const].map((name) => images[name].archive);
  const version = defaultKubernetesVersion;
  const hash = createHash("sha256").update(JSON.stringify([bin, existing, archives]));
  for (const name of readdirSync(sources)) hash.update(readFileSync(join(sources, name)));
  const reference = `capstan.dev/node:${version}`;
  const folder = join(cacheDir(), "e2e");
  const archive = join(folder, `node-${version}-${hash.digest("hex").slice(0, 12)}.tar`);
  if (existsSync(archive)) return { reference, archive };
  // Three quarters of a gigabyte each.
  for (const name of readdirSync(folder)) if (/^node-.*\.tar$/.test(name)) rmSync(join(folder, name));
  await buildNodeImage({ version, programs: bin, archives, output: archive, reference, tree: { existing } });
  return { reference, archive };
}
