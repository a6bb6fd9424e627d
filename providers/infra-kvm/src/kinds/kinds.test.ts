import { expect, test } from "vitest";
import { KVM_KINDS } from "./all.ts";

test.each(KVM_KINDS)("the CRD of $kind has the label of its provider and stores v1beta2", (kind) => {
  const { metadata, spec } = kind.crd() as unknown as {
    metadata: { labels: Record<string, string> };
    spec: { versions: { name: string; storage: boolean }[] };
  };
  expect(metadata.labels["cluster.x-k8s.io/provider"]).toBe("infrastructure-kvm");
  expect(spec.versions.filter(({ storage }) => storage).map(({ name }) => name)).toEqual(["v1beta2"]);
});

test("machines, clusters and templates have the short names of the RFC", () => {
  const names = KVM_KINDS.flatMap(
    (kind) => (kind.crd() as { spec?: { names?: { shortNames?: string[] } } }).spec?.names?.shortNames ?? [],
  );
  expect(names.sort()).toEqual(["kvmc", "kvmm", "kvmmt"]);
});
