import { describeState, namesOf } from "./control-plane.state.mjs";
import { DEFAULTS } from "./control-plane.stories.mjs";

/**
 * Tells a story to a management cluster and returns what does not depend on timing: the order in which Machines of the control plane and
 * members of etcd come and go, and the state in the end. Upstream's managers hear it when it is recorded, ours when it is compared.
 * The world knows the infrastructure provider, the workload cluster and how time passes.
 * @param {import("./control-plane.tell.mjs").World} world
 * @param {import("./control-plane.stories.mjs").Story} story
 */
export async function tell(world, story) {
  const teller = new Teller(world, story);
  await teller.start();
  const steps = story.steps ?? [];
  for (const [index, step] of steps.entries()) await teller.step(step, index === steps.length - 1);
  return { machines: teller.machineLog, members: teller.memberLog, states: teller.states };
}

const CLUSTERS = "cluster.x-k8s.io/v1beta2";
const CONTROL_PLANE = { apiVersion: "controlplane.cluster.x-k8s.io/v1beta2", kind: "KubeadmControlPlane" };
const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";
const ref = (group, kind, name) => ({ apiGroup: `${group}.cluster.x-k8s.io`, kind, name });
const PLANE_REF = ref("controlplane", "KubeadmControlPlane", "cp");
const FALSE_WHEN_DONE = ["RollingOut", "ScalingUp", "ScalingDown", "Remediating"];
/** For so long every look has to show that nothing is left to do; or that nothing happens, where something is held. */
const DONE_MS = 2_000;
const QUIET_MS = 40_000;

class Teller {
  machineLog = [];
  memberLog = [];
  states = [];
  #names = namesOf();
  /** What was seen last, by name. */
  #deleting = new Map();
  #members = new Set();
  #leader = "";
  #nodes = new Map();
  #stepName = "created";
  #hasControlPlane = false;

  constructor(world, story) {
    this.world = world;
    this.story = { ...DEFAULTS, ...story };
  }

  async start() {
    for (const object of this.#objects()) await this.world.client.create(object);
    this.#hasControlPlane = true;
    await this.#settle(this.story.start, this.story.steps === undefined);
  }

  async step(step, last) {
    const { until, ...action } = step;
    this.#stepName = JSON.stringify(action);
    this.machineLog.push(`# ${this.#stepName}`);
    this.memberLog.push(`# ${this.#stepName}`);
    await this.#act(step);
    await this.#settle(until, last);
  }

  /** Everything that the user applies. */
  #objects() {
    const { workers = 0, healthCheck, domains, slow } = this.story;
    const { metadata, infra } = this;
    if (this.story.topology) return this.#classObjects(metadata);
    const withPlane = !this.story.alone;
    return [
      this.world.infraCluster({ metadata: metadata("c"), domains }),
      ...["small", "large", ...(slow === undefined ? [] : [slow])].map((name) =>
        this.world.template({ metadata: metadata(name), slow: name === slow }),
      ),
      ...(withPlane ? [this.#plane(metadata, infra)] : this.#aloneObjects(metadata)),
      {
        apiVersion: CLUSTERS,
        kind: "Cluster",
        metadata: metadata("c"),
        spec: {
          clusterNetwork: { pods: { cidrBlocks: ["10.244.0.0/16"] }, services: { cidrBlocks: ["10.96.0.0/16"] } },
          ...(withPlane ? { controlPlaneRef: PLANE_REF } : {}),
          infrastructureRef: ref("infrastructure", this.world.kinds.cluster, "c"),
        },
      },
      ...(workers === 0 ? [] : this.#workers(workers, metadata, infra)),
      ...(healthCheck ? [this.#healthCheck(metadata)] : []),
    ];
  }

  metadata = (name) => ({ name, namespace: this.world.namespace });
  infra = (name) => ref("infrastructure", this.world.kinds.template, name);

  #plane(metadata, infra) {
    const { replicas, version, template, kubeadmConfigSpec, spec } = this.story;
    return {
      ...CONTROL_PLANE,
      metadata: metadata("cp"),
      spec: {
        replicas,
        version,
        machineTemplate: { spec: { infrastructureRef: infra(template) } },
        // It may not be empty.
        kubeadmConfigSpec: { format: "cloud-config", ...kubeadmConfigSpec },
        ...spec,
      },
    };
  }

  /** A control plane Machine as people write it without a control plane provider. */
  #aloneObjects(metadata) {
    const labels = { "cluster.x-k8s.io/cluster-name": "c", [CONTROL_PLANE_LABEL]: "" };
    const bootstrap = "bootstrap.cluster.x-k8s.io/v1beta2";
    return [
      this.world.machine({ metadata: { ...metadata("alone"), labels } }),
      {
        apiVersion: bootstrap,
        kind: "KubeadmConfig",
        metadata: { ...metadata("alone"), labels },
        spec: { format: "cloud-config" },
      },
      {
        apiVersion: CLUSTERS,
        kind: "Machine",
        metadata: { ...metadata("alone"), labels },
        spec: {
          clusterName: "c",
          version: this.story.version,
          bootstrap: { configRef: ref("bootstrap", "KubeadmConfig", "alone") },
          infrastructureRef: ref("infrastructure", this.world.kinds.machine, "alone"),
        },
      },
    ];
  }

  /** A class, and a Cluster of it; their names are given, as far as a class can. */
  #classObjects(metadata) {
    const { replicas, version, template } = this.story;
    const at = (group, kind, name) => ({ apiVersion: `${group}.cluster.x-k8s.io/v1beta2`, kind, name });
    const { kinds } = this.world;
    return [
      this.world.clusterTemplate({ metadata: metadata("c") }),
      this.world.template({ metadata: metadata(template), slow: false }),
      {
        apiVersion: CONTROL_PLANE.apiVersion,
        kind: "KubeadmControlPlaneTemplate",
        metadata: metadata("cp"),
        spec: { template: { spec: { kubeadmConfigSpec: { format: "cloud-config" } } } },
      },
      {
        apiVersion: CLUSTERS,
        kind: "ClusterClass",
        metadata: metadata("class"),
        spec: {
          controlPlane: {
            templateRef: at("controlplane", "KubeadmControlPlaneTemplate", "cp"),
            machineInfrastructure: { templateRef: at("infrastructure", kinds.template, template) },
            naming: { template: "cp" },
          },
          infrastructure: {
            templateRef: at("infrastructure", kinds.clusterTemplate, "c"),
            naming: { template: "c" },
          },
        },
      },
      {
        apiVersion: CLUSTERS,
        kind: "Cluster",
        metadata: metadata("c"),
        spec: {
          clusterNetwork: { pods: { cidrBlocks: ["10.244.0.0/16"] }, services: { cidrBlocks: ["10.96.0.0/16"] } },
          topology: { classRef: { name: "class" }, version, controlPlane: { replicas } },
        },
      },
    ];
  }

  #workers(replicas, metadata, infra) {
    const bootstrap = "bootstrap.cluster.x-k8s.io/v1beta2";
    return [
      {
        apiVersion: bootstrap,
        kind: "KubeadmConfigTemplate",
        metadata: metadata("md"),
        spec: { template: { spec: { format: "cloud-config" } } },
      },
      {
        apiVersion: CLUSTERS,
        kind: "MachineDeployment",
        metadata: metadata("md"),
        spec: {
          clusterName: "c",
          replicas,
          selector: { matchLabels: { md: "md" } },
          template: {
            metadata: { labels: { md: "md" } },
            spec: {
              clusterName: "c",
              version: this.story.version,
              bootstrap: { configRef: ref("bootstrap", "KubeadmConfigTemplate", "md") },
              infrastructureRef: infra("small"),
            },
          },
        },
      },
    ];
  }

  /** Only what a person marks is unhealthy. */
  #healthCheck(metadata) {
    return {
      apiVersion: CLUSTERS,
      kind: "MachineHealthCheck",
      metadata: metadata("health"),
      spec: {
        clusterName: "c",
        selector: { matchExpressions: [{ key: CONTROL_PLANE_LABEL, operator: "Exists" }] },
        checks: { nodeStartupTimeoutSeconds: 0 },
      },
    };
  }

  async #act(step) {
    const { client, namespace } = this.world;
    const at = (kind, name) => ({ apiVersion: CLUSTERS, kind, metadata: { name, namespace } });
    const plane = { ...CONTROL_PLANE, metadata: { name: "cp", namespace } };
    const machine = (name) => at("Machine", this.#names.real(name));
    const annotate = (name, annotations) => client.patch(machine(name), { metadata: { annotations } });
    if (step.scale !== undefined) await client.patch(plane, { spec: { replicas: step.scale } });
    if (step.patch !== undefined) await client.patch(plane, { spec: step.patch });
    if (step.annotate !== undefined) await annotate(step.annotate, step.annotations);
    if (step.rolloutAfterMs !== undefined) {
      // Machines have to be older than this by a whole second.
      await this.world.sleep(3000);
      const after = new Date(this.world.now() - 1000).toISOString().replace(/\.\d+/, "");
      await client.patch(plane, { spec: { rollout: { after } } });
    }
    if (step.expires !== undefined) {
      const expiry = new Date(this.world.now() + step.days * 86_400_000).toISOString().replace(/\.\d+/, "");
      await this.world.setExpiry(this.#names.real(step.expires), expiry);
    }
    if (step.deleteMachine !== undefined) await client.delete(machine(step.deleteMachine));
    if (step.pause !== undefined) await client.patch(at("Cluster", "c"), { spec: { paused: step.pause } });
    if (step.topology !== undefined) await client.patch(at("Cluster", "c"), { spec: { topology: step.topology } });
    if (step.adopt) {
      await client.create(this.#plane(this.metadata, this.infra));
      await client.patch(at("Cluster", "c"), { spec: { controlPlaneRef: PLANE_REF } });
    }
    if (step.deleteCluster) await client.delete(at("Cluster", "c"));
    if (step.deleteControlPlane) await client.delete(plane);
    if (step.component !== undefined) await this.world.component(step.component, this.#node(step.machine), step.ready);
    if (step.ghost !== undefined) await this.world.ghost(step.ghost);
  }

  #node(name) {
    for (const [node, machine] of this.#nodes) if (machine === name) return node;
    throw new Error(`${name} has no Node`);
  }

  async #settle(until, last) {
    let looks = 0;
    const from = this.#events();
    const steadyMs = until?.quiet ? QUIET_MS : until === undefined ? DONE_MS : 0;
    const needed = Math.ceil(steadyMs / this.world.lookMs) + 1;
    let before = -1;
    for (;;) {
      const seen = await this.#look();
      const events = this.#events();
      // What a step starts takes a moment to begin.
      const begun = until !== undefined || events > from;
      looks = begun && holds(until, seen) && (events === before || needed === 1) ? looks + 1 : 0;
      before = events;
      if (looks >= needed) break;
      this.world.checkPatience(this.#stepName, seen);
      await this.world.sleep(this.world.lookMs);
    }
    const state = await describeState(this.world, this.#names);
    this.states.push({ after: this.#stepName, ...(last ? state : { controlPlane: state.controlPlane }) });
  }

  #events() {
    return this.machineLog.length + this.memberLog.length;
  }

  /** Records what has changed since the last look. */
  async #look() {
    const { client, namespace } = this.world;
    const { items } = await client.list(await client.kindOf({ apiVersion: CLUSTERS, kind: "Machine" }), { namespace });
    const machines = items
      .filter(({ metadata }) => CONTROL_PLANE_LABEL in (metadata.labels ?? {}))
      .sort((a, b) => (order(a) < order(b) ? -1 : 1));
    // One operation follows the other: what has ended comes before what begins.
    for (const [name, deleting] of this.#deleting) {
      if (machines.some(({ metadata }) => this.#names.of(metadata.name) === name)) continue;
      if (!deleting) this.machineLog.push(`delete ${name}`);
      this.machineLog.push(`gone ${name}`);
      this.#deleting.delete(name);
    }
    for (const machine of machines) this.#seeMachine(machine, machines);
    if (this.#hasControlPlane) await this.#lookAtMembers();
    const plane = await client.get(await client.kindOf(CONTROL_PLANE), { namespace, name: "cp" });
    const cluster = await client.get(await client.kindOf({ apiVersion: CLUSTERS, kind: "Cluster" }), {
      namespace,
      name: "c",
    });
    if (this.story.topology && plane !== undefined)
      this.#names.addTemplate(plane.spec.machineTemplate.spec.infrastructureRef.name);
    return { machines, plane, cluster, members: this.#members.size, healthCheck: this.story.healthCheck };
  }

  #seeMachine({ metadata, spec, status }, machines) {
    const name = this.#names.of(metadata.name) ?? this.#names.add(metadata.name);
    if (!this.#deleting.has(name)) {
      const place = spec.failureDomain === undefined ? "" : ` in ${this.#domain(spec.failureDomain, machines)}`;
      this.machineLog.push(`create ${name}${place} ${spec.version}`);
      this.#deleting.set(name, false);
    }
    if (metadata.deletionTimestamp !== undefined && !this.#deleting.get(name)) {
      this.machineLog.push(`delete ${name}`);
      this.#deleting.set(name, true);
    }
    if (status?.nodeRef?.name) this.#nodes.set(status.nodeRef.name, name);
  }

  /** Upstream chooses by chance between domains that are alike: only how many Machines are in one already can be compared. */
  #domain(domain, machines) {
    this.#names.addDomain(domain);
    const there = machines.filter(({ metadata, spec }) => {
      return spec.failureDomain === domain && this.#deleting.has(this.#names.of(metadata.name));
    });
    return `a domain with ${there.length}`;
  }

  async #lookAtMembers() {
    const listed = await this.world.members();
    if (listed === undefined) return;
    const nameOf = ({ name }) => this.#nodes.get(name) ?? (name.startsWith("ghost") ? name : undefined);
    const members = new Map(listed.map((member) => [nameOf(member), member]));
    members.delete(undefined);
    const left = [...this.#members].filter((name) => !members.has(name)).sort(byName);
    const joined = [...members.keys()].filter((name) => !this.#members.has(name)).sort(byName);
    const changes = [...left.map((name) => `leaves ${name}`), ...joined.map((name) => `joins ${name}`)];
    // One look cannot see which came first.
    const mark = this.world.marksLooks && changes.length > 1 ? ` @${this.memberLog.length}` : "";
    this.memberLog.push(...changes.map((change) => `${change}${mark}`));
    this.#members = new Set(members.keys());
    const leader = [...members].find(([, member]) => member.leader)?.[0] ?? "";
    if (leader !== "" && leader !== this.#leader) this.memberLog.push(`leader ${leader}`);
    if (leader !== "") this.#leader = leader;
  }
}

const order = (/** @type {any} */ { metadata }) => `${metadata.creationTimestamp} ${metadata.name}`;
const byName = (a, b) => (a < b ? -1 : 1);
const isDeleting = (/** @type {any} */ { metadata }) => metadata.deletionTimestamp !== undefined;

const hasPassed = (/** @type {any} */ { status }) =>
  status?.conditions?.some(({ type, status }) => type === "HealthCheckSucceeded" && status === "True") === true;

/** Whether what a step waits for is seen. */
function holds(until, { machines, plane, cluster, members, healthCheck }) {
  if (until?.deleted) return cluster === undefined && machines.length === 0;
  if (until?.quiet) return true;
  if (until?.nodes !== undefined)
    return machines.filter(({ status }) => status?.nodeRef !== undefined).length >= until.nodes;
  if (until?.members !== undefined) return members >= until.members;
  if (plane === undefined) return false;
  const conditions = plane.status?.conditions ?? [];
  const statusOf = (type) => conditions.find((condition) => condition.type === type)?.status;
  if (until?.condition !== undefined) return statusOf(until.condition) === until.status;
  if (until?.machines !== undefined) {
    const { deleting = 0, withoutNode = 0 } = until;
    return (
      machines.length === until.machines &&
      machines.filter(isDeleting).length >= deleting &&
      machines.filter(({ status }) => status?.nodeRef === undefined).length >= withoutNode
    );
  }
  // Its verdict on each Machine decides about what follows, and comes later.
  const judged = !healthCheck || machines.every(hasPassed);
  return judged && isDone(plane, machines, statusOf);
}

function isDone({ metadata, spec, status = {} }, machines, statusOf) {
  const counts = [status.replicas, status.readyReplicas, status.availableReplicas, status.upToDateReplicas];
  return (
    status.observedGeneration === metadata.generation &&
    counts.every((count) => count === spec.replicas) &&
    machines.length === spec.replicas &&
    !machines.some(isDeleting) &&
    FALSE_WHEN_DONE.every((type) => statusOf(type) === "False") &&
    ["Available", "MachinesReady", "MachinesUpToDate"].every((type) => statusOf(type) === "True")
  );
}
