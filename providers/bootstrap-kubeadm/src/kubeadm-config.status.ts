import type { Condition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, type KubeadmConfig, summarize, withTransitionTimes } from "@capstan/capi";
import type { Progress as AnyProgress } from "./progress.ts";

/** What there is to report. */
type Progress = Exclude<AnyProgress, { step: "later" }>;

type Status = NonNullable<KubeadmConfig["status"]>;

/** Computes the status after a reconcile; undefined progress (a paused config) leaves everything but Paused unchanged. */
export function kubeadmConfigStatus(
  config: KubeadmConfig,
  progress: Progress | undefined,
  paused: ConditionInput,
  nowMs: number,
): Status {
  const existing = conditionsOf(config);
  const generation = config.metadata.generation;
  const computed = progress === undefined ? keep(existing) : conditions(progress, existing);
  const dataSecretName = progress?.step === "created" ? progress.dataSecretName : config.status?.dataSecretName;
  const created = progress?.step === "created" || config.status?.initialization?.dataSecretCreated === true;
  return {
    conditions: withTransitionTimes([...computed, paused], existing, nowMs, generation),
    ...(created ? { initialization: { dataSecretCreated: true } } : {}),
    dataSecretName,
    observedGeneration: generation,
  };
}

const OURS = ["Ready", "DataSecretAvailable", "CertificatesAvailable"];

function keep(existing: readonly Condition[]): ConditionInput[] {
  return existing
    .filter(({ type }) => OURS.includes(type))
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
}

function conditions(progress: Progress, existing: readonly Condition[]): ConditionInput[] {
  const data = dataSecretAvailable(progress);
  const certificates =
    certificatesAvailable(progress) ?? keep(existing).find(({ type }) => type === "CertificatesAvailable");
  const own = certificates === undefined ? [data] : [data, certificates];
  const ready = summarize(
    "Ready",
    own.map((condition) => ({ condition })),
    { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" },
  );
  return [ready, ...own];
}

function dataSecretAvailable(progress: Progress): ConditionInput {
  const type = "DataSecretAvailable";
  if (progress.step === "created") return { type, status: "True", reason: "Available", message: "" };
  const reason = (progress.step === "failed" ? progress.reason : undefined) ?? "NotAvailable";
  return { type, status: "False", reason, message: progress.message };
}

/** Undefined until it was checked. */
function certificatesAvailable(progress: Progress): ConditionInput | undefined {
  const type = "CertificatesAvailable";
  if (progress.step === "no-certificates")
    return { type, status: "False", reason: "NotAvailable", message: progress.message };
  if (progress.step === "created" || progress.certificates === true)
    return { type, status: "True", reason: "Available", message: "" };
  return undefined;
}
