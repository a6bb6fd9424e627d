// Records the default roles of a freshly started kube-apiserver (no controller manager), for rbac.test.ts:
//   kubectl get clusterroles,clusterrolebindings -o json | node record-default-rbac.mjs > default-rbac.golden.json
import { readFileSync } from "node:fs";

const lines = JSON.parse(readFileSync(0, "utf8")).items.map((o) => {
  const { name, labels, annotations } = o.metadata;
  return JSON.stringify({
    apiVersion: o.apiVersion,
    kind: o.kind,
    metadata: { name, labels, annotations },
    ...(o.roleRef === undefined ? {} : { roleRef: o.roleRef }),
    ...(o.aggregationRule === undefined ? {} : { aggregationRule: o.aggregationRule }),
    ...(o.kind === "ClusterRole" ? { rules: o.rules } : {}),
    ...(o.subjects === undefined ? {} : { subjects: o.subjects }),
  });
});
process.stdout.write(`[\n${lines.join(",\n")}\n]\n`);
