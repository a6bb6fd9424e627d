import type { Clock } from "@capstan/apimachinery";
import { parseCron } from "@capstan/backup";
import type { ClusterKey, KubeadmControlPlane } from "@capstan/capi";
import { makeSpace, planSpace, type SpaceSettings } from "@capstan/controlplane";
import { DEFRAGMENT_SCHEDULE } from "../annotations.ts";
import type { EtcdWays } from "../etcd/etcd-ways.ts";
import type { Inspection, MemberAnswer } from "./etcd-inspection.ts";
import type { WorkloadProblem } from "./workload-side.ts";

const QUOTA_FLAG = "quota-backend-bytes";
const QUOTA_FIELD = `${QUOTA_FLAG} in spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.extraArgs`;
/** A full etcd that cannot be helped is compacted and defragmented again, which is a pause each time. */
const AGAIN_MS = 60_000;

/** Dependencies of EtcdSpace. */
export interface EtcdSpaceDeps {
  readonly ways: EtcdWays;
  readonly clock: Clock;
}

/** Keeps the etcd of one cluster from running out of space, from what its members answered anyway. */
export class EtcdSpace {
  readonly #deps: EtcdSpaceDeps;
  /** Kept in memory: a schedule continues with the next time after a restart. */
  #lastDefragmentMs: number | undefined;
  #problem: WorkloadProblem | undefined;
  #dueMs = 0;

  constructor(deps: EtcdSpaceDeps) {
    this.#deps = deps;
  }

  /** What a person has to do. */
  get problem(): WorkloadProblem | undefined {
    return this.#problem;
  }

  /** Acts if the answers show that it is needed, and says whether it did; every member must have answered. */
  async keep(cluster: ClusterKey, plane: KubeadmControlPlane, inspections: readonly Inspection[]): Promise<boolean> {
    const { ways, clock } = this.#deps;
    const nowMs = clock.now();
    this.#lastDefragmentMs ??= nowMs;
    const settings = spaceSettings(plane);
    const invalid = scheduleProblem(settings);
    const answers = inspections.filter((each): each is MemberAnswer => !("error" in each));
    if (answers.length === 0 || answers.length < inspections.length || nowMs < this.#dueMs) return false;
    const statuses = answers.map(({ status }) => status);
    const plan = planSpace({ statuses, settings, lastDefragmentMs: this.#lastDefragmentMs, nowMs });
    this.#problem = invalid;
    if (!plan.compact && !plan.defragment) return false;
    this.#dueMs = nowMs + AGAIN_MS;
    this.#lastDefragmentMs = nowMs;
    try {
      const members = await Promise.all(
        answers.map(async ({ place, status }) => ({ ...(await ways.open(cluster, place)), status })),
      );
      this.#problem = (await makeSpace(members, plan, settings, QUOTA_FIELD)) ?? invalid;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#problem = {
        reason: "DefragmentationFailed",
        message: `etcd was not defragmented: ${why}; it will be tried again`,
      };
    }
    return true;
  }
}

/** The quota that etcd is started with, and the schedule that a person gave the control plane. */
function spaceSettings({ metadata, spec }: KubeadmControlPlane): SpaceSettings {
  const args = spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.local?.extraArgs ?? [];
  const quotaBytes = Number(args.find(({ name }) => name === QUOTA_FLAG)?.value);
  return {
    // etcd takes 0 as its default, and a negative number as no limit.
    quotaBytes: quotaBytes > 0 ? quotaBytes : quotaBytes < 0 ? Number.POSITIVE_INFINITY : undefined,
    defragment: { schedule: metadata.annotations?.[DEFRAGMENT_SCHEDULE] },
  };
}

function scheduleProblem({ defragment }: SpaceSettings): WorkloadProblem | undefined {
  const schedule = defragment?.schedule;
  if (schedule === undefined) return undefined;
  const parsed = parseCron(schedule);
  if (typeof parsed !== "string") return undefined;
  return {
    reason: "InvalidSchedule",
    message: `The annotation ${DEFRAGMENT_SCHEDULE} is no schedule (${parsed.slice(0, 200)}): write five fields of cron in UTC, such as 0 4 * * 0`,
  };
}
