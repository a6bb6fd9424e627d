import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import type { EtcdMember } from "@capstan/etcd";
import type { CertificateAndKey } from "@capstan/pki";
import { certificateSpecs } from "../../certificates.ts";
import type { LeafStore } from "../leaf-store.ts";
import type { ControlPlanePlan } from "../placement.ts";
import type { ProgramInput } from "../process/programs.ts";
import { STORE_BYTES } from "./tenant-quota.ts";

/** Name of etcd's root user. */
export const ADMINISTRATOR = "root";

/** Fields that do not affect a shared etcd: only etcd's part of a plan does. */
const VERSION = "v1.34.0";

/** Returns the program input of a shared etcd, which is a control plane that consists only of etcd. */
export async function storeInput(store: {
  owner: string;
  name: string;
  authority: CertificateAndKey;
  leaves: LeafStore;
  members: ReadonlyMap<number, EtcdMember>;
  uid: number | undefined;
}): Promise<ProgramInput> {
  const { owner, name, authority, uid } = store;
  const { certPem, keyPem } = authority;
  const authorities: Authorities = {
    cluster: authority,
    etcd: authority,
    frontProxy: authority,
    serviceAccount: { publicKeyPem: certPem, privateKeyPem: keyPem },
  };
  const network = clusterNetwork(undefined);
  const specs = certificateSpecs({ version: VERSION, network, endpointHost: "", extraSANs: [], etcdSANs: [] })
    .filter(({ issuer }) => issuer === "etcd")
    // etcd's gateway rejects clients whose certificate has a common name, because it would act as a user of that name.
    .map((spec) =>
      spec.name === "apiserver-etcd-client" ? { ...spec, commonName: "", organizations: ["capstan"] } : spec,
    );
  const leaves = await store.leaves.ensure(specs, authorities, "ECDSA-P256");
  const files: Record<string, string> = { "etcd/ca.crt": certPem };
  for (const [leafName, leaf] of Object.entries(leaves)) {
    files[`${leafName}.crt`] = leaf.certPem;
    files[`${leafName}.key`] = leaf.keyPem;
  }
  const plan: ControlPlanePlan = {
    owner,
    clusterName: name,
    version: VERSION,
    spec: {
      version: VERSION,
      etcd: {
        quotaBytes: STORE_BYTES,
        // Tenants must not compact, and without compaction old revisions would stay.
        extraArgs: [
          { name: "auto-compaction-mode", value: "periodic" },
          { name: "auto-compaction-retention", value: "5m" },
        ],
      },
    },
    endpoint: { host: "127.0.0.1", port: 0 },
    network,
    authorities,
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
  };
  return {
    plan,
    files,
    uid,
    context: {
      clusterName: name,
      version: VERSION,
      network,
      spec: plan.spec,
      endpoint: plan.endpoint,
      bindAddress: plan.endpoint.host,
      apiPort: 0,
      ports: { controllerManager: 0, scheduler: 0 },
      etcd: [...store.members.values()],
    },
  };
}
