import { createHash } from "node:crypto";
import type { Clock, Random } from "@capstan/apimachinery";
import { hostPort } from "@capstan/controlplane";
import { firstMembers } from "@capstan/etcd";
import { type HostCluster, HostSecret, type Service } from "@capstan/workloads";
import { coerce, lt, type SemVer } from "semver";
import { certificateSpecs } from "../../certificates.ts";
import type { ComponentContext } from "../../components/context.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { componentFiles } from "../component-files.ts";
import { type EtcdDescription, type EtcdSettings, etcdSettings } from "../etcd-upgrade/description.ts";
import { type LeafStorage, LeafStore } from "../leaf-store.ts";
import type { ControlPlanePlan } from "../placement.ts";
import { API_PORT, konnectivityOn, serviceAddresses, servicePort } from "./exposure.ts";
import { EGRESS_FILE, KONNECTIVITY_CERTIFICATE } from "./konnectivity.ts";
import { apiHost, certificatesSecretName, etcdHost, memberPod, nameOf, ownMetadata, type PodNames } from "./names.ts";
import { DRAIN_SECONDS, etcdMember, HEALTH_PORTS, type PodsInput } from "./objects.ts";
import type { PodsRecord } from "./record.ts";
import { imageOf } from "./template.ts";

const CERTIFICATES_KEY = "certificates.json";

/** Collects or creates what the objects of a control plane are built from. */
export class PodsInputs {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #leaves = new Map<string, { host: HostCluster; store: LeafStore }>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Everything for one control plane. */
  async of(
    host: HostCluster,
    names: PodNames,
    plan: ControlPlanePlan,
    service: Service,
    known: PodsRecord | undefined,
  ): Promise<PodsInput> {
    const record = recordOf(plan, known);
    const context = contextOf(names, plan, record);
    const specs = certificateSpecs({
      version: plan.version,
      network: plan.network,
      endpointHost: plan.endpoint.host,
      extraSANs: [...apiNames(names), ...serviceAddresses(service), ...(plan.spec.expose?.certSANs ?? [])],
      etcdSANs: memberNames(names, Math.max(record.members.length, plan.spec.etcd?.replicas ?? 1)),
    });
    if (konnectivityOn(plan.spec)) specs.push(KONNECTIVITY_CERTIFICATE);
    const algorithm = plan.spec.certificates?.encryptionAlgorithm ?? "ECDSA-P256";
    const leaves = await this.#store(host, names).ensure(specs, plan.authorities, algorithm);
    const local = `https://${hostPort(apiHost(names), servicePort(plan.spec, plan.endpoint))}`;
    return { plan, names, context, record, files: componentFiles(plan.authorities, leaves, local, plan.clusterName) };
  }

  /** When the first certificate becomes due for renewal. */
  renewalMs(owner: string): number {
    return this.#leaves.get(owner)?.store.renewalMs() ?? Infinity;
  }

  /** Removes what is kept in memory of a deleted control plane. */
  forget(owner: string): void {
    this.#leaves.delete(owner);
  }

  #store(host: HostCluster, names: PodNames): LeafStore {
    const known = this.#leaves.get(names.owner);
    if (known?.host === host) return known.store;
    const store = new LeafStore(leafSecret(host, names), this.#clock, this.#random);
    this.#leaves.set(names.owner, { host, store });
    return store;
  }
}

/** Certificates in a Secret next to the pods. */
function leafSecret(host: HostCluster, names: PodNames): LeafStorage {
  const key = { namespace: names.namespace, name: certificatesSecretName(names) };
  return {
    load: () => {
      const text = host.get(HostSecret, key)?.data?.[CERTIFICATES_KEY];
      return Promise.resolve(text === undefined ? undefined : Buffer.from(text, "base64").toString("utf8"));
    },
    save: async (text) => {
      await host.ensure(HostSecret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: ownMetadata(names, key.name),
        type: "Opaque",
        data: { [CERTIFICATES_KEY]: Buffer.from(text).toString("base64") },
      });
    },
  };
}

/** Returns a digest of the CA that a control plane's nodes trust. */
export function authorityOf(plan: ControlPlanePlan): string {
  return createHash("sha256").update(plan.authorities.cluster.certPem).digest("hex").slice(0, 16);
}

function recordOf(plan: ControlPlanePlan, known: PodsRecord | undefined): PodsRecord {
  const served = known?.members.some(({ started }) => started === true) === true;
  return {
    ...known,
    // For a record of an earlier version, which lacks it.
    ...(known !== undefined && known.etcdServes === undefined && served
      ? { etcdServes: { version: known.etcdImage, settings: podsSettings(plan.spec) } }
      : {}),
    ...(plan.objectUid === undefined ? {} : { objectUid: plan.objectUid }),
    authority: authorityOf(plan),
    members: structuredClone(known?.members) ?? firstMembers(plan.spec.etcd?.replicas ?? 1),
    storage: known?.storage ?? plan.spec.etcd?.storage ?? {},
    etcdImage: known?.etcdImage ?? imageOf("etcd", plan.spec, plan.version),
  };
}

/** Returns the etcd that a plan requests; never an older version than the one that has used the data. */
export function wantedEtcd(plan: ControlPlanePlan, known: PodsRecord | undefined): EtcdDescription {
  const image = imageOf("etcd", plan.spec, plan.version);
  const used = known?.members.some(({ started }) => started === true) === true;
  const serves = known?.etcdServes?.version ?? (used ? known?.etcdImage : undefined);
  return {
    version: serves !== undefined && isOlder(image, serves) ? serves : image,
    settings: podsSettings(plan.spec),
  };
}

function podsSettings(spec: HostedControlPlaneSpec): EtcdSettings {
  return { ...etcdSettings(spec), ...(spec.pods === undefined ? {} : { pods: spec.pods }) };
}

/** The version is known only from tags; an image without one, or with only a digest, is tried. */
function isOlder(image: string, than: string): boolean {
  const [a, b] = [tagVersion(image), tagVersion(than)];
  return a !== null && b !== null && lt(a, b);
}

function tagVersion(image: string): SemVer | null {
  // A digest also contains digits, and a registry may have a port.
  const [name = ""] = image.split("@");
  return coerce(/:([^:/]+)$/.exec(name)?.[1]);
}

function apiNames(names: PodNames): string[] {
  const short = nameOf(names, "kube-apiserver");
  return [short, `${short}.${names.namespace}`, apiHost(names), `${apiHost(names)}.cluster.local`];
}

function contextOf(names: PodNames, plan: ControlPlanePlan, record: PodsRecord): ComponentContext {
  const everywhere = plan.network.serviceCidrs[0]?.includes(":") === true ? "::" : "0.0.0.0";
  return {
    clusterName: plan.clusterName,
    version: plan.version,
    network: plan.network,
    spec: plan.spec,
    endpoint: plan.endpoint,
    bindAddress: everywhere,
    apiPort: API_PORT,
    ports: HEALTH_PORTS,
    healthAddress: everywhere,
    // A pod on a lost node may keep running for a while next to its successor.
    leaderElect: true,
    drainSeconds: DRAIN_SECONDS,
    ...(konnectivityOn(plan.spec) ? { egressSelectorFile: EGRESS_FILE } : {}),
    ...(plan.encryption === undefined ? {} : { encrypted: true }),
    // A member that is not in the list is being added or removed.
    etcd: record.members
      .filter(({ joining, leaving }) => joining !== true && leaving !== true)
      .map(({ index }) => etcdMember(names, index)),
  };
}

function memberNames(names: PodNames, count: number): string[] {
  return Array.from({ length: count }, (_, index) => [memberPod(names, index), etcdHost(names, index)]).flat();
}
