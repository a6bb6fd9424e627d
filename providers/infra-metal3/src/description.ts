import { field, type ProviderDescription } from "@capstan/capi";
import { factsOf, judgedConditions, troubleOf } from "./host/facts.ts";
import { BMC_FAULTS_ANNOTATION } from "./provisioner/memory/annotation.ts";
import { simulatedMetalHosts } from "./provisioner/memory/hosts.ts";
import { bareMetalWhy } from "./why.ts";

/** The one format of images that Capstan's own driver of bare-metal hosts can use. */
const LIVE_IMAGE = "live-iso";

/** What people see of bare metal. */
export const metal3Description: ProviderDescription = {
  name: "metal3",
  title: "Bare metal",
  badge: { label: "Bare metal", color: "#d9480f" },
  workers: {
    summary: "bare-metal hosts, registered as BareMetalHosts",
    clusterKind: "Metal3Cluster",
    templateKind: "Metal3MachineTemplate",
    hostKind: "BareMetalHost",
    settings: {
      image: {
        summary: "address of the image, e.g. http://images/node.iso",
        required: true,
        template: "${IMAGE_URL}",
      },
      format: {
        summary: "live-iso: the image is booted and never written to a disk; disk images are not written yet",
        required: true,
        usual: LIVE_IMAGE,
      },
      checksum: { summary: "checksum of the image, or its URL; live images need none" },
      checksumType: { summary: "md5, sha256 or sha512" },
    },
    templates: { flavor: "bare-metal", mixed: { group: "metal", count: "${BARE_METAL_MACHINE_COUNT:=1}" } },
    clusterSpec: { cloudProviderEnabled: false },
    // Machines find their Nodes by these; cloud-init on the host fills them in.
    nodeRegistration: {
      name: "{{ ds.meta_data.name }}",
      kubeletExtraArgs: [{ name: "node-labels", value: "metal3.io/uuid={{ ds.meta_data.uuid }}" }],
    },
    machineSpec: ({ select, settings: { image = "", checksum, checksumType, format } }) => ({
      image: {
        url: image,
        // A live image is booted, not written to a disk: nothing checks it.
        ...(format === LIVE_IMAGE && checksum === undefined
          ? {}
          : { checksum: checksum ?? `${image}.sha256`, checksumType: checksumType ?? "sha256" }),
        ...(format === undefined ? {} : { diskFormat: format }),
      },
      ...(Object.keys(select).length === 0 ? {} : { hostSelector: { matchLabels: select } }),
    }),
    warning: ({ format = "" }) =>
      format === LIVE_IMAGE || format === ""
        ? undefined
        : `a ${format} image is for a disk, and Capstan does not write disks yet: its BareMetalHosts fail with an error unless another operator manages them; use a live image and format=${LIVE_IMAGE}`,
  },
  hosts: [
    {
      group: "metal3.io",
      version: "v1alpha1",
      kind: "BareMetalHost",
      plural: "baremetalhosts",
      claimedBy: { kind: "Metal3Machine", field: "consumerRef" },
      cure: "register a BareMetalHost, see docs/bare-metal.md",
      command: "kubectl apply -f HOST.yaml",
      isFree: (host) => {
        const state = field(host, "status", "provisioning", "state");
        return field(host, "spec", "consumerRef") === undefined && (state === "available" || state === "ready");
      },
      row: factsOf,
      trouble: troubleOf,
      conditions: judgedConditions,
      simulation: {
        effect: "its management controller stops answering",
        health: (host) => {
          const address = field(host, "spec", "bmc", "address");
          if (typeof address !== "string" || !address.startsWith("memory://")) return undefined;
          return (host.metadata.annotations?.[BMC_FAULTS_ANNOTATION] ?? "") === "" ? "well" : "broken";
        },
        annotations: (broken) => ({ [BMC_FAULTS_ANNOTATION]: broken ? "unreachable" : null }),
        objects: simulatedMetalHosts,
      },
    },
  ],
  reasons: async () => (await import("./reasons.ts")).METAL3_REASONS,
  why: bareMetalWhy,
};
