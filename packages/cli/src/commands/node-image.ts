import type { CommandDefinition } from "../command.ts";
import { DATA_OPTION } from "../options.ts";

/** Defines `capstan node-image build`, which builds the image of machines that are pods. */
export const nodeImageBuild: CommandDefinition = {
  name: "node-image build",
  summary: "Build the image of machines that are pods",
  details:
    "The image has Debian's systemd and containerd, kubelet and kubeadm of one version, and archives of the images that the node runs. It is an OCI archive: load it with `ctr images import` or push it to a registry. Needs root and debootstrap.",
  arguments: [{ name: "version", summary: "e.g. v1.37.1" }],
  options: [
    { flags: "-o, --output <file>", summary: "The archive (default: node-VERSION.tar)", completes: "files" },
    { flags: "--tag <reference>", summary: "Reference of the image (default: capstan.dev/node:VERSION)" },
    {
      flags: "--programs <dir>",
      summary: "Take kubelet, kubeadm and kubectl from a local folder instead of downloading them",
      completes: "directories",
    },
    { flags: "--mirror <url>", summary: "Base address laid out as https://dl.k8s.io/release" },
    {
      flags: "--image <file>",
      summary: "Archive of images that the node has before it can pull any (repeatable)",
      repeatable: true,
      completes: "files",
    },
    { flags: "--sandbox-image <reference>", summary: "Image of pods' sandboxes (default: the one kubeadm names)" },
    { flags: "--debian-mirror <url>", summary: "Base address of a Debian mirror" },
    DATA_OPTION,
  ],
  examples: [
    {
      command: "capstan node-image build v1.37.1 --image workload-images.tar",
      does: "downloads the programs and builds node-v1.37.1.tar",
    },
    {
      command: "capstan node-image build v1.37.1 --programs ./bin --debian-mirror http://mirror.example.org/debian",
      does: "builds it without access to the internet",
    },
  ],
  run: async (input) => (await import("./node-image.run.ts")).runNodeImageBuild(input),
};
