import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import { type Authorities, hostPort } from "@capstan/controlplane";
import { type EtcdMember, type EtcdMemberRecord, firstMembers, initialCluster } from "@capstan/etcd";
import type { PortAllocator, UserIds } from "@capstan/workloads";
import { type CertificateSpec, certificateSpecs } from "../../certificates.ts";
import type { ComponentContext } from "../../components/context.ts";
import { componentFiles } from "../component-files.ts";
import { LeafStore, leafFile } from "../leaf-store.ts";
import type { ControlPlanePlan, ReserveRequest } from "../placement.ts";
import type { PlaneRecord } from "../plane-record.ts";
import type { TenantAccess } from "../shared-etcd/shared-etcd.ts";
import { loopbackOf, type ProgramInput, servingName } from "./programs.ts";

/** Dependencies of ProcessInputs. */
export interface ProcessInputsOptions {
  root: string;
  ports: PortAllocator;
  userIds?: UserIds;
  defaultAddress: string;
  clock: Clock;
  random: Random;
}

/** Allocates what programs need: ports, certificates, a user ID. Repeated calls return the same values. */
export class ProcessInputs {
  readonly #options: ProcessInputsOptions;
  readonly #leaves = new Map<string, LeafStore>();

  constructor(options: ProcessInputsOptions) {
    this.#options = options;
  }

  /** The address kube-apiserver listens on. */
  bindAddress(spec: ReserveRequest["spec"], endpointHost: string | undefined): string {
    return spec.expose?.bindAddress ?? endpointHost ?? this.#options.defaultAddress;
  }

  /** The port of the API; throws if the address is not one of this machine or the port belongs to another control plane. */
  async apiPort(owner: string, bindAddress: string, fixed: number | undefined): Promise<number> {
    const wanted: Record<string, number> = fixed === undefined ? {} : { api: fixed };
    return (await this.#options.ports.allocate(owner, ["api"], bindAddress, wanted))["api"] ?? 0;
  }

  /** A port for a successor that must not serve yet. */
  async trialPort(owner: string, input: ProgramInput): Promise<number> {
    return (await this.#options.ports.allocate(owner, ["apiTrial"], input.context.bindAddress))["apiTrial"] ?? 0;
  }

  /** A separate etcd without clients, to see whether it starts. */
  async trialMember(owner: string): Promise<EtcdMember> {
    const member = localMember("Trial", await this.#options.ports.allocate(owner, memberPorts("Trial"), "127.0.0.1"));
    return { ...member, initialCluster: initialCluster([member]) };
  }

  /** Everything for one control plane; `apiservers` names the programs that need a serving certificate. */
  async of(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    apiservers: readonly string[],
    shared?: TenantAccess,
  ): Promise<ProgramInput> {
    const context = { ...(await this.context(plan, record)), ...sharedContext(shared) };
    const uid = await this.#options.userIds?.allocate(plan.owner);
    const specs = certificateSpecs({
      version: record.version ?? plan.version,
      network: plan.network,
      endpointHost: plan.endpoint.host,
      extraSANs: [context.bindAddress, ...(plan.spec.expose?.certSANs ?? [])].filter(
        (name) => name !== "0.0.0.0" && name !== "::",
      ),
      etcdSANs: [],
    })
      .flatMap((spec) => (shared === undefined ? [spec] : tenantCertificate(spec, shared)))
      .flatMap((spec) =>
        spec.name === "apiserver"
          ? apiservers.map((name) => ({ ...spec, name, dnsNames: [...spec.dnsNames, servingName(name)] }))
          : [spec],
      );
    const authorities = shared === undefined ? plan.authorities : tenantAuthorities(plan.authorities, shared);
    const algorithm = plan.spec.certificates?.encryptionAlgorithm ?? "ECDSA-P256";
    const leaves = await this.#leafStore(plan.owner).ensure(specs, authorities, algorithm);
    const local = `https://${hostPort(loopbackOf(context.bindAddress), context.apiPort)}`;
    return { plan, context, files: componentFiles(authorities, leaves, local, plan.clusterName), uid };
  }

  /** When the first certificate becomes due for renewal. */
  renewalMs(owner: string): number {
    return this.#leafStore(owner).renewalMs();
  }

  /** Removes what is kept in memory of a deleted control plane. */
  forget(owner: string): void {
    this.#leaves.delete(owner);
  }

  #leafStore(owner: string): LeafStore {
    let store = this.#leaves.get(owner);
    if (store === undefined) {
      store = new LeafStore(leafFile(join(this.#options.root, owner)), this.#options.clock, this.#options.random);
      this.#leaves.set(owner, store);
    }
    return store;
  }

  /** Returns the input of the command lines. */
  async context(plan: ControlPlanePlan, record: PlaneRecord): Promise<ComponentContext> {
    const bindAddress = this.bindAddress(plan.spec, plan.endpoint.host);
    const members = record.members ?? firstMembers(plan.spec.etcd?.replicas ?? 1);
    const known = [...new Set(members.flatMap(({ index, began }) => [index, ...began]))];
    const etcdPorts = known.flatMap(memberPorts);
    const apiPort = await this.apiPort(plan.owner, bindAddress, plan.endpoint.port);
    const ports = await this.#options.ports.allocate(
      plan.owner,
      ["controllerManager", "scheduler", ...etcdPorts],
      "127.0.0.1",
    );
    return {
      clusterName: plan.clusterName,
      version: plan.version,
      network: plan.network,
      spec: plan.spec,
      endpoint: plan.endpoint,
      bindAddress,
      apiPort,
      ports: { controllerManager: ports["controllerManager"] ?? 0, scheduler: ports["scheduler"] ?? 0 },
      auditLog: "$DATA/audit.log",
      ...(plan.encryption === undefined ? {} : { encrypted: true }),
      // A member that is not in the list is being added or removed.
      etcd: members
        .filter(({ joining, leaving }) => joining !== true && leaving !== true)
        .map((member) => placedMember(member, ports)),
    };
  }

  /** All members of etcd, by index, including those that kube-apiservers do not use yet or no longer use. */
  async members(owner: string, records: readonly EtcdMemberRecord[]): Promise<Map<number, EtcdMember>> {
    const known = [...new Set(records.flatMap(({ index, began }) => [index, ...began]))];
    const ports = await this.#options.ports.allocate(owner, known.flatMap(memberPorts), "127.0.0.1");
    return new Map(records.map((record) => [record.index, placedMember(record, ports)]));
  }
}

/** Location of a tenant's data in a shared etcd. */
function sharedContext(shared: TenantAccess | undefined): Partial<ComponentContext> {
  if (shared === undefined) return {};
  const { clientUrl, prefix } = shared;
  return { etcd: [{ name: "shared", clientUrl, peerUrl: "", metricsUrl: "" }], etcdPrefix: prefix.slice(0, -1) };
}

/** A tenant's name is in its certificate; that of a server would let it pose as the shared etcd. */
function tenantCertificate(spec: CertificateSpec, shared: TenantAccess): CertificateSpec[] {
  if (spec.issuer !== "etcd") return [spec];
  return spec.name === "apiserver-etcd-client" ? [{ ...spec, commonName: shared.user }] : [];
}

/** The CA of the shared etcd replaces the control plane's own. */
function tenantAuthorities(own: Authorities, shared: TenantAccess): Authorities {
  const { etcd: _etcd, ...also } = own.also ?? {};
  return { ...own, etcd: shared.authority, also };
}

function memberPorts(index: number | string): string[] {
  return [`etcdClient${index}`, `etcdPeer${index}`, `etcdMetrics${index}`];
}

function placedMember(record: EtcdMemberRecord, ports: Record<string, number>): EtcdMember {
  return {
    ...localMember(record.index, ports),
    initialCluster: initialCluster(record.began.map((index) => localMember(index, ports))),
    ...(record.joined === true ? { joins: true } : {}),
  };
}

function localMember(index: number | string, ports: Record<string, number>): EtcdMember {
  return {
    name: `etcd-${index}`,
    clientUrl: `https://127.0.0.1:${ports[`etcdClient${index}`]}`,
    peerUrl: `https://127.0.0.1:${ports[`etcdPeer${index}`]}`,
    metricsUrl: `http://127.0.0.1:${ports[`etcdMetrics${index}`]}`,
  };
}
