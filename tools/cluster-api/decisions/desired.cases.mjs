/** Questions what upstream's control plane wants its next Machine, or a given one, to look like. */

import { withField } from "./fields.mjs";
import { bases } from "./up-to-date.cases.mjs";

const metadata = {
  labels: { a: "b", "cluster.x-k8s.io/cluster-name": "forged" },
  annotations: { c: "d" },
};
const spec = {
  deletion: { nodeDrainTimeoutSeconds: 1, nodeVolumeDetachTimeoutSeconds: 2, nodeDeletionTimeoutSeconds: 3 },
  taints: [{ key: "a", value: "b", effect: "NoSchedule", propagation: "Always" }],
  readinessGates: [{ conditionType: "A" }, { conditionType: "APIServerPodHealthy", polarity: "Negative" }],
};
const remediation = JSON.stringify({ machine: "cp-0", timestamp: "2026-05-31T00:00:00Z", retryCount: 1 });

/** All questions by name. */
export function cases(specSchema) {
  const worlds = bases(specSchema);
  const all = new Map();
  for (const [name, world] of Object.entries(worlds)) {
    const join = name.endsWith("join");
    const { cluster, controlPlane, templates, machine, kubeadmConfig, infraMachine } = world;
    const create = { ask: "desired", join, cluster, controlPlane, templates };
    all.set(`${name}: create`, create);
    if (!name.startsWith("empty")) continue;
    const machines = withField(
      withField(create, "controlPlane.spec.machineTemplate.metadata", metadata),
      "controlPlane.spec.machineTemplate.spec",
      { ...controlPlane.spec.machineTemplate.spec, ...spec },
    );
    all.set(`${name}: create with everything in the machine template`, machines);
    all.set(`${name}: update with everything in the machine template`, {
      ...machines,
      machine,
      kubeadmConfig,
      infraMachine,
    });
    all.set(
      `${name}: create in the course of a remediation`,
      withField(create, "controlPlane.metadata.annotations", {
        "controlplane.cluster.x-k8s.io/remediation-in-progress": remediation,
      }),
    );
    all.set(`${name}: update a Machine that was created in the course of a remediation`, {
      ...create,
      machine: withField(machine, "metadata.annotations", {
        "controlplane.cluster.x-k8s.io/remediation-for": remediation,
        "controlplane.cluster.x-k8s.io/kubeadm-cluster-configuration": "{}",
        other: "x",
      }),
      kubeadmConfig,
      infraMachine,
    });
    all.set(
      `${name}: external etcd`,
      withField(create, "controlPlane.spec.kubeadmConfigSpec.clusterConfiguration.etcd.external", {
        endpoints: ["https://10.0.0.9:2379"],
        caFile: "/a",
        certFile: "/b",
        keyFile: "/c",
      }),
    );
    all.set(`${name}: long name of the control plane`, withField(create, "controlPlane.metadata.name", "n".repeat(70)));
    all.set(
      `${name}: annotations of the template`,
      withField(create, "templates", [
        withField(templates[0], "spec.template.metadata", { labels: { e: "f" }, annotations: { g: "h" } }),
      ]),
    );
    all.set(`${name}: the template is missing`, withField(create, "templates", [templates[1]]));
    for (const version of ["v1.30.4", "v1.31.0-rc.1", "v1.31.0", "v1.35.9", "v1.36.0-alpha.1", "v1.36.0"])
      all.set(`${name}: ${version}`, withField(create, "controlPlane.spec.version", version));
    for (const template of [
      "a-{{ .random }}",
      "{{ .cluster.name }}-{{ .kubeadmControlPlane.name }}-{{ .random }}",
      "fixed",
    ])
      all.set(`${name}: named ${template}`, withField(create, "controlPlane.spec.machineNaming", { template }));
  }
  return all;
}
