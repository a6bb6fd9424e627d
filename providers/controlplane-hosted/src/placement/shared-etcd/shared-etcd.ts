import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import {
  type EtcdClient,
  type EtcdCredentials,
  type EtcdTenant,
  type EtcdTenants,
  etcdClient,
  etcdTenants,
  etcdVersionOf,
  firstMembers,
  readExport,
  writeExport,
} from "@capstan/etcd";
import { BACKDATE_MS, type CertificateAndKey, createCertificateAuthority, createSecretKey } from "@capstan/pki";
import type { ProgramState, UserIds } from "@capstan/workloads";
import { compare } from "semver";
import { LeafStore, leafFile } from "../leaf-store.ts";
import type { ControlPlanePlan } from "../placement.ts";
import { PlacementProblem } from "../placement-problem.ts";
import { type PlaneRecord, readPlaneRecord, writePlaneRecord } from "../plane-record.ts";
import { ProcessEtcd } from "../process/etcd.ts";
import type { ProcessInputs } from "../process/inputs.ts";
import type { ProgramInput } from "../process/programs.ts";
import type { LocalWorkloads } from "../process/workloads.ts";
import { ADMINISTRATOR, storeInput } from "./input.ts";
import { readSharedRecord, type SharedEtcdRecord, writeSharedRecord } from "./record.ts";
import { nextMeasureMs, promiseProblem, quotaTrouble, tenantQuota } from "./tenant-quota.ts";

/** Not a valid name of a namespace. */
const FOLDER = "shared_etcd";
const TEN_YEARS_MS = 3650 * 24 * 3600_000;
/** A pending change is checked again after this time. */
const SOON_MS = 1000;

/** Dependencies of SharedEtcds. */
export interface SharedEtcdsOptions {
  root: string;
  workloads: LocalWorkloads;
  userIds?: UserIds;
  clock: Clock;
  random: Random;
  inputs: ProcessInputs;
  /** Returns the folder with the binaries of a version. */
  binDir(version: string): Promise<string>;
  /** Other clients of etcd, in tests. */
  client?: (credentials: EtcdCredentials) => EtcdClient;
  tenants?: typeof etcdTenants;
}

interface Trouble {
  reason: string;
  message: string;
}

/** Address, user and CA with which a control plane's kube-apiservers access a shared etcd. */
export interface TenantAccess extends EtcdTenant {
  clientUrl: string;
  /** CA of the shared etcd and its tenants. */
  authority: CertificateAndKey;
}

/** State of a shared etcd for one tenant. */
export interface SharedEtcdReport {
  states: ProgramState[];
  /** Whether etcd responds. */
  ready: boolean;
  /** Set once the tenant has been granted access. */
  access?: TenantAccess;
  trouble?: Trouble;
  recheckAtMs: number;
}

/** In-memory state of one shared etcd, which may be lost at any time. */
interface Store {
  queue: Promise<unknown>;
  etcd: ProcessEtcd | undefined;
  admin: { key: string; tenants: EtcdTenants } | undefined;
  leaves: LeafStore;
  secured: boolean;
  /** An upper bound of each tenant's usage, and when to measure again. */
  measured: Map<string, { bytes: number; nextMs: number }>;
  owners: string[];
}

/**
 * Manages etcds that several control planes of this machine share. Each tenant has a key prefix, a user with a client certificate, a role
 * for only that prefix, and a quota. An etcd is created with its first tenant and deleted with its last.
 */
export class SharedEtcds {
  readonly #options: SharedEtcdsOptions;
  readonly #stores = new Map<string, Store>();

  constructor(options: SharedEtcdsOptions) {
    this.#options = options;
  }

  /** Runs the etcd and grants the tenant access. `version` serves; `hadData` means that data existed before. */
  ensure(name: string, plan: ControlPlanePlan, version: string, hadData: boolean): Promise<SharedEtcdReport> {
    return this.#exclusive(name, async (store) => {
      const dir = this.#dir(name);
      const shared = (await readSharedRecord(dir)) ?? (await this.#found(name, store));
      const quotaBytes = tenantQuota(plan.spec.etcd);
      const refusal = promiseProblem(shared, name, plan.owner, quotaBytes);
      const known = shared.tenants[plan.owner];
      if (known === undefined && hadData && plan.restore === undefined)
        throw new PlacementProblem(
          "DataLost",
          `the shared etcd ${name} has no data of this control plane; set spec.etcd.restoreFrom to a backup, or delete it`,
        );
      if (refusal !== undefined && (known === undefined || known.gone === true))
        throw new PlacementProblem(refusal.reason, refusal.message);
      if (known === undefined) {
        shared.tenants[plan.owner] = { quotaBytes, ...uidOf(plan) };
        await writeSharedRecord(dir, shared);
      } else if (known.gone !== true && refusal === undefined && known.quotaBytes !== quotaBytes) {
        known.quotaBytes = quotaBytes;
        store.measured.delete(plan.owner);
        await writeSharedRecord(dir, shared);
      }
      store.owners = Object.keys(shared.tenants);
      const report = await this.#run(name, store, shared, plan, version);
      return refusal === undefined ? report : { ...report, trouble: report.trouble ?? refusal };
    });
  }

  /** Saves a tenant's part to a file. */
  export(name: string, owner: string, file: string): Promise<void> {
    return this.#exclusive(name, async (store) => {
      await writeExport(file, (await this.#admin(name, store)).read(tenantOf(owner).prefix));
    });
  }

  /** Replaces a tenant's data with that of a file; nothing may use it meanwhile. */
  restore(name: string, owner: string, file: string): Promise<void> {
    return this.#exclusive(name, async (store) => {
      const admin = await this.#admin(name, store);
      const { prefix } = tenantOf(owner);
      await admin.clear(prefix);
      for await (const entries of readExport(file)) await admin.write(prefix, entries);
    });
  }

  /** Returns the uid of the object that owns the data under that name. */
  async uidOf(name: string, owner: string): Promise<string | undefined> {
    const tenant = (await readSharedRecord(this.#dir(name)))?.tenants[owner];
    return tenant?.gone === true ? undefined : tenant?.objectUid;
  }

  /** Deletes a tenant and its data, as soon as etcd responds; etcd is deleted with the last tenant. */
  remove(name: string, owner: string): Promise<void> {
    return this.#exclusive(name, async (store) => {
      const dir = this.#dir(name);
      const shared = await readSharedRecord(dir);
      const tenant = shared?.tenants[owner];
      if (shared === undefined || tenant === undefined) return;
      tenant.gone = true;
      await writeSharedRecord(dir, shared);
      store.measured.delete(owner);
      if (Object.values(shared.tenants).every(({ gone }) => gone === true)) {
        await this.#options.workloads.removeOwner(ownerOf(name));
        await this.#options.userIds?.release(ownerOf(name));
        Object.assign(store, this.#unknown(name));
        return;
      }
      // A failure is retried when another tenant is reconciled.
      await this.#admin(name, store)
        .then((admin) => this.#expelGone(dir, shared, admin))
        .catch(() => undefined);
    });
  }

  /** Returns the owners that a change of a program affects: a shared etcd affects all its tenants. */
  concerned(programOwner: string): readonly string[] {
    if (!programOwner.startsWith(`${FOLDER}/`)) return [programOwner];
    return this.#stores.get(programOwner.slice(FOLDER.length + 1))?.owners ?? [];
  }

  async #run(
    name: string,
    store: Store,
    shared: SharedEtcdRecord,
    plan: ControlPlanePlan,
    version: string,
  ): Promise<SharedEtcdReport> {
    const dir = this.#dir(name);
    const record = await readPlaneRecord(dir);
    const saved = JSON.stringify(record);
    record.members ??= firstMembers(1);
    const etcd = this.#etcdOf(store, shared);
    await etcd.takeBack(ownerOf(name), record);
    const etcdVersion = await this.#chooseVersion(record, version);
    if (record.hadData === true && !(await etcd.hasData(ownerOf(name), 0)))
      throw new PlacementProblem(
        "DataLost",
        `the data of the shared etcd ${name} is missing from ${etcd.dataDir(ownerOf(name), 0)}; remove ${dir} and set spec.etcd.restoreFrom of its control planes to their backups`,
      );
    const input = await this.#input(name, store, shared, record);
    const save = (): Promise<void> => writePlaneRecord(dir, record);
    const scope = { record, input, binDir: this.#options.binDir, save };
    const { states, recheckMs = Infinity } = await etcd.run(input.plan, etcdVersion, scope);
    const ready = states.some(({ phase }) => phase === "Ready");
    const recheckAtMs = Math.min(store.leaves.renewalMs(), this.#options.clock.now() + recheckMs);
    const report: SharedEtcdReport = { states, ready, recheckAtMs };
    if (ready) {
      record.hadData = true;
      const trouble = await this.#keepTenants(name, store, shared, plan).catch(notAsked);
      const kept = await etcd.keep(input.plan, record, input, states, true);
      const first = kept.trouble ?? trouble ?? upgradeTrouble(name, record);
      if (first !== undefined) report.trouble = first;
      const { nextMs = this.#options.clock.now() + SOON_MS } = store.measured.get(plan.owner) ?? {};
      report.recheckAtMs = Math.min(report.recheckAtMs, kept.recheckAtMs, nextMs);
    }
    if (JSON.stringify(record) !== saved) await writePlaneRecord(dir, record);
    const tenant = shared.tenants[plan.owner];
    const clientUrl = input.context.etcd[0]?.clientUrl ?? "";
    if (tenant?.admitted === true && tenant.gone !== true)
      report.access = { ...tenantOf(plan.owner), clientUrl, authority: shared.authority };
    return report;
  }

  /** Grants access to new tenants, removes deleted ones, and checks the quota of the tenant. */
  async #keepTenants(
    name: string,
    store: Store,
    shared: SharedEtcdRecord,
    plan: ControlPlanePlan,
  ): Promise<Trouble | undefined> {
    const dir = this.#dir(name);
    const admin = await this.#admin(name, store);
    if (!store.secured) await admin.secure();
    store.secured = true;
    if (Object.values(shared.tenants).some(({ gone }) => gone === true)) await this.#expelGone(dir, shared, admin);
    shared.tenants[plan.owner] ??= { quotaBytes: tenantQuota(plan.spec.etcd), ...uidOf(plan) };
    const tenant = shared.tenants[plan.owner];
    if (tenant === undefined) return undefined;
    if (tenant.admitted !== true) {
      await admin.admit(tenantOf(plan.owner), true);
      tenant.admitted = true;
      await writeSharedRecord(dir, shared);
    }
    const bytes = await this.#measure(store, admin, plan.owner, tenant.quotaBytes);
    const exceeded = bytes > tenant.quotaBytes;
    if (exceeded !== (tenant.readOnly === true)) {
      await admin.admit(tenantOf(plan.owner), !exceeded);
      if (exceeded) tenant.readOnly = true;
      else delete tenant.readOnly;
      await writeSharedRecord(dir, shared);
    }
    return exceeded ? quotaTrouble(bytes, tenant.quotaBytes) : undefined;
  }

  /** Returns an upper bound of a tenant's usage. The total size is cheap to query, and mostly below any quota. */
  async #measure(store: Store, admin: EtcdTenants, owner: string, quotaBytes: number): Promise<number> {
    const { clock } = this.#options;
    const begunMs = clock.now();
    const seen = store.measured.get(owner);
    if (seen !== undefined && begunMs < seen.nextMs) return seen.bytes;
    const all = await admin.bytesInUse();
    const bytes = all <= quotaBytes ? all : await admin.measure(tenantOf(owner).prefix);
    const nowMs = clock.now();
    store.measured.set(owner, { bytes, nextMs: nextMeasureMs(nowMs, bytes, quotaBytes, nowMs - begunMs) });
    return bytes;
  }

  async #expelGone(dir: string, shared: SharedEtcdRecord, admin: EtcdTenants): Promise<void> {
    for (const [owner, { gone }] of Object.entries(shared.tenants)) {
      if (gone !== true) continue;
      await admin.expel(tenantOf(owner));
      delete shared.tenants[owner];
      await writeSharedRecord(dir, shared);
    }
  }

  /** Runs the etcd of the highest version of any tenant, and replaces it only with a different one. */
  async #chooseVersion(record: PlaneRecord, version: string): Promise<string> {
    const { binDir } = this.#options;
    if (record.version === undefined || compare(version, record.version) > 0) {
      const found = await binDir(version);
      const before =
        record.etcdVersion === undefined ? undefined : await etcdVersionOf(await binDir(record.etcdVersion));
      delete record.refused;
      if (before === undefined || before !== (await etcdVersionOf(found))) record.etcdVersion = version;
      record.version = version;
    }
    return record.etcdVersion ?? version;
  }

  /** Initial state of an etcd that was not observed yet. */
  #unknown(name: string): Omit<Store, "queue"> {
    const { clock, random } = this.#options;
    return {
      etcd: undefined,
      admin: undefined,
      leaves: new LeafStore(leafFile(this.#dir(name)), clock, random),
      secured: false,
      measured: new Map(),
      owners: [],
    };
  }

  /** Creates the keys of a new etcd, and drops what is cached of an earlier one of that name. */
  async #found(name: string, store: Store): Promise<SharedEtcdRecord> {
    Object.assign(store, this.#unknown(name));
    const { clock, random } = this.#options;
    const authority = await createCertificateAuthority({
      commonName: "capstan-shared-etcd",
      notBeforeMs: clock.now() - BACKDATE_MS,
      validMs: TEN_YEARS_MS,
      random,
    });
    return { authority, rootPassword: await createSecretKey(), tenants: {} };
  }

  async #input(name: string, store: Store, shared: SharedEtcdRecord, record: PlaneRecord): Promise<ProgramInput> {
    const owner = ownerOf(name);
    const members = await this.#options.inputs.members(owner, record.members ?? []);
    const uid = await this.#options.userIds?.allocate(owner);
    return await storeInput({ owner, name, authority: shared.authority, leaves: store.leaves, members, uid });
  }

  /** Returns the administrator's connection, which is reopened after a renewal of its certificate. */
  async #admin(name: string, store: Store): Promise<EtcdTenants> {
    const dir = this.#dir(name);
    const shared = await readSharedRecord(dir);
    if (shared === undefined) throw new Error(`there is no shared etcd ${name}`);
    const { context, files } = await this.#input(name, store, shared, await readPlaneRecord(dir));
    const endpoint = context.etcd[0]?.clientUrl ?? "";
    const credentials = {
      ca: files["etcd/ca.crt"] ?? "",
      cert: files["apiserver-etcd-client.crt"] ?? "",
      key: files["apiserver-etcd-client.key"] ?? "",
      user: { name: ADMINISTRATOR, password: shared.rootPassword },
    };
    const key = JSON.stringify([endpoint, credentials]);
    if (store.admin?.key !== key) {
      const make = this.#options.tenants ?? etcdTenants;
      store.admin = { key, tenants: make(endpoint, credentials, this.#options.clock) };
    }
    return store.admin.tenants;
  }

  #etcdOf(store: Store, shared: SharedEtcdRecord): ProcessEtcd {
    const { root, workloads, clock, inputs } = this.#options;
    const client = this.#options.client ?? ((credentials: EtcdCredentials) => etcdClient(credentials, clock));
    const user = { name: ADMINISTRATOR, password: shared.rootPassword };
    store.etcd ??= new ProcessEtcd(
      { root, workloads, clock, client: (credentials) => client({ ...credentials, user }) },
      inputs,
    );
    return store.etcd;
  }

  /** Handles the tenants of one etcd one after the other, because they share its record. */
  #exclusive<T>(name: string, work: (store: Store) => Promise<T>): Promise<T> {
    const store = this.#stores.get(name) ?? { queue: Promise.resolve(), ...this.#unknown(name) };
    this.#stores.set(name, store);
    const next = store.queue.then(() => work(store));
    store.queue = next.catch(() => undefined);
    return next;
  }

  #dir(name: string): string {
    return join(this.#options.root, ownerOf(name));
  }
}

/** Returns the key prefix and user of a control plane. Names contain no slashes, so no prefix is the start of another. */
export function tenantOf(owner: string): EtcdTenant {
  return { user: `tenant:${owner}`, prefix: `/${owner}/` };
}

function notAsked(error: unknown): Trouble {
  const why = error instanceof Error ? error.message : String(error);
  return { reason: "EtcdNotAsked", message: `Requests to the shared etcd fail: ${why}; they will be retried` };
}

/** An etcd of another version that did not start; the previous one keeps serving. */
function upgradeTrouble(name: string, { refused, etcdRefused }: PlaneRecord): Trouble | undefined {
  const message = refused?.message ?? etcdRefused?.message;
  if (message === undefined) return undefined;
  return { reason: "UpgradeFailed", message: `The shared etcd ${name} keeps its version: ${message}` };
}

function ownerOf(name: string): string {
  return `${FOLDER}/${name}`;
}

function uidOf(plan: ControlPlanePlan): { objectUid?: string } {
  return plan.objectUid === undefined ? {} : { objectUid: plan.objectUid };
}
