import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Clock, KubeObject } from "@capstan/apimachinery";
import { restoreArguments } from "@capstan/etcd";
import {
  execInPod,
  HOSTED_LABEL,
  type HostCluster,
  PersistentVolumeClaim,
  Pod,
  podTrouble,
  podWords,
} from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import type { ControlPlanePlan } from "../placement.ts";
import { memberClaim, ownMetadata, type PodNames, restorePodName } from "./names.ts";
import { etcdMember, memberVolume, type PodsInput } from "./objects.ts";
import { DATA_DIR, nobody, placementOf, restricted, spreadOf } from "./template.ts";

const COMPONENT = "etcd-restore";
const BACKUP_ANNOTATION = "capstan.dev/backup";
const RECEIVER = "receive";
const FOLDER = "/restore";
/** A failed step is retried after this time. */
const RETRY_MS = 30_000;
/** Reads a number of bytes from its input, verifies that they are complete, and only then removes the old data. */
const RECEIVE = [
  "set -e",
  `head -c "$1" > ${FOLDER}/part`,
  `echo "$2  ${FOLDER}/part" | sha256sum -c - > /dev/null`,
  `rm -rf ${DATA_DIR}`,
  `mv ${FOLDER}/part ${FOLDER}/snapshot.db`,
].join("\n");
const WAIT = `until [ -e ${FOLDER}/snapshot.db ]; do sleep 1; done`;

type Send = typeof execInPod;

/** Restores volumes of etcd from backups, with one pod per member that receives the snapshot through the host cluster's API. */
export class PodsRestore {
  readonly #clock: Clock;
  readonly #send: Send;
  /** Pods that have received their snapshot but do not report it yet. */
  readonly #sent = new Set<string>();

  constructor(clock: Clock, send: Send | undefined) {
    this.#clock = clock;
    this.#send = send ?? execInPod;
  }

  /** Continues a restore while nothing else runs; returns what it waits for, or nothing once all volumes are filled. */
  async step(
    host: HostCluster,
    input: PodsInput,
    restore: NonNullable<ControlPlanePlan["restore"]>,
  ): Promise<string | undefined> {
    const waits: string[] = [];
    for (const { index } of input.record.members) {
      const wait = await this.#member(host, input, index, restore);
      if (wait !== undefined) waits.push(`${restorePodName(input.names, index)}: ${wait}`);
    }
    return waits.length === 0 ? undefined : waits.join("; ");
  }

  /** Deletes the pods that have finished. Returns true if none is left. */
  async clear(host: HostCluster, names: PodNames): Promise<boolean> {
    const pods = host.of(Pod, names.owner).filter((pod) => isRestore(pod));
    for (const pod of pods) {
      this.#sent.delete(pod.metadata.uid ?? "");
      await host.client.delete(pod, { gracePeriodSeconds: 1 });
    }
    return pods.length === 0;
  }

  async #member(
    host: HostCluster,
    input: PodsInput,
    index: number,
    restore: NonNullable<ControlPlanePlan["restore"]>,
  ): Promise<string | undefined> {
    const { names } = input;
    const key = { namespace: names.namespace, name: restorePodName(names, index) };
    const pod = host.get(Pod, key);
    if (pod === undefined) {
      const claim = { namespace: names.namespace, name: memberClaim(names, index) };
      if (host.get(PersistentVolumeClaim, claim) === undefined)
        await host.ensure(PersistentVolumeClaim, memberVolume(input, index));
      await host.ensure(Pod, restorePod(input, index, restore.name) as Pod);
      return "begins";
    }
    if (pod.metadata.deletionTimestamp !== undefined) return "an earlier pod is being deleted";
    if (pod.metadata.annotations?.[BACKUP_ANNOTATION] !== restore.name) {
      await host.client.delete(pod, { gracePeriodSeconds: 1 });
      return "an earlier pod is being deleted";
    }
    if (pod.status?.phase === "Succeeded") return undefined;
    if (pod.status?.phase === "Failed") return await this.#failed(host, pod);
    const receiver = pod.status?.initContainerStatuses?.find(({ name }) => name === RECEIVER);
    if (receiver?.state?.running === undefined) return troubleOf(host, names, pod) ?? "starts";
    const uid = pod.metadata.uid ?? "";
    if (!this.#sent.has(uid)) {
      await this.#hand(host, key, await restore.snapshotFile());
      this.#sent.add(uid);
    }
    return "has received the snapshot";
  }

  async #hand(host: HostCluster, key: { namespace: string; name: string }, file: string): Promise<void> {
    const { size } = await stat(file);
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    const command = ["sh", "-c", RECEIVE, "sh", String(size), hash.digest("hex")];
    await this.#send(host.client, { ...key, container: RECEIVER }, command, createReadStream(file));
  }

  async #failed(host: HostCluster, pod: Pod): Promise<string> {
    const since = Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
    if (this.#clock.now() - since > RETRY_MS) await host.client.delete(pod, { gracePeriodSeconds: 1 });
    const said = podWords(pod).trim().split("\n").at(-1) ?? "";
    return `failed and will be retried: ${said === "" ? (pod.status?.message ?? "no error message") : said.slice(0, 500)}`;
  }
}

function isRestore(pod: Pod): boolean {
  return pod.metadata.labels?.["app.kubernetes.io/component"] === COMPONENT;
}

function troubleOf(host: HostCluster, { owner }: PodNames, pod: Pod): string | undefined {
  const claims = host.of(PersistentVolumeClaim, owner);
  return podTrouble(pod, new Map(claims.map((claim) => [claim.metadata.name ?? "", claim] as const)));
}

/** An image with a shell, to receive the snapshot: etcd's own has none. */
function toolsImage(spec: HostedControlPlaneSpec): string {
  return spec.etcd?.toolsImage ?? `${spec.imageRepository ?? "registry.k8s.io"}/e2e-test-images/busybox:1.36.1-1`;
}

/** Waits for the snapshot, then restores the member's data from it. */
function restorePod(input: PodsInput, index: number, backup: string): KubeObject {
  const { names, plan, record } = input;
  const metadata = ownMetadata(names, restorePodName(names, index));
  const labels = { [HOSTED_LABEL]: names.stem, "app.kubernetes.io/component": COMPONENT };
  const members = record.members.map((member) => etcdMember(names, member.index));
  const container = {
    imagePullPolicy: "IfNotPresent",
    securityContext: restricted(),
    terminationMessagePolicy: "FallbackToLogsOnError",
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
    volumeMounts: [
      { name: "data", mountPath: "/var/lib/etcd" },
      { name: "restore", mountPath: FOLDER },
    ],
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, [BACKUP_ANNOTATION]: backup },
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: nobody(),
      ...spreadOf(labels),
      ...placementOf(plan.spec, "etcd"),
      initContainers: [{ name: RECEIVER, image: toolsImage(plan.spec), command: ["sh", "-c", WAIT], ...container }],
      containers: [
        {
          name: "restore",
          image: record.etcdImage,
          command: [
            "etcdutl",
            ...restoreArguments(`${FOLDER}/snapshot.db`, DATA_DIR, etcdMember(names, index), members),
          ],
          ...container,
        },
      ],
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: memberClaim(names, index) } },
        { name: "restore", emptyDir: {} },
      ],
    },
  };
  return pod;
}
