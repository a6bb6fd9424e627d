import { join } from "node:path";
import { installNodePrograms } from "@capstan/kubernetes-install";
import { buildNodeImage } from "@capstan/node-image";
import type { CommandInput } from "../command.ts";
import { dataDirOf } from "../options.ts";
import { progressLines, withCure } from "./kubernetes.run.ts";

/** Runs `capstan node-image build`: downloads the programs unless they are given, and writes the archive. */
export async function runNodeImageBuild(input: CommandInput): Promise<number> {
  const [version = ""] = input.arguments;
  const { io, lists } = input;
  const option = (name: string): string | undefined => {
    const value = input.options[name];
    return typeof value === "string" ? value : undefined;
  };
  const data = dataDirOf(input);
  const mirror = option("mirror");
  const programs =
    option("programs") ??
    (await installNodePrograms({
      version,
      into: join(data, "kubernetes"),
      env: io.env,
      ...(mirror === undefined ? {} : { mirror }),
      onProgress: progressLines((line) => io.err(line)),
    }).catch(withCure));
  const output = option("output") ?? `node-${version}.tar`;
  const reference = await buildNodeImage({
    version,
    programs,
    archives: lists["image"] ?? [],
    output,
    reference: option("tag"),
    sandboxImage: option("sandboxImage"),
    mirror: option("debianMirror"),
    tree: { cache: join(data, "node-image") },
    onProgress: (what) => io.err(`${what}\n`),
  }).catch(withCure);
  io.out(`${reference} is in ${output}\n`);
  return 0;
}
