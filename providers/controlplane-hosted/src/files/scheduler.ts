import { isObject } from "@capstan/apimachinery";
import {
  document,
  FileRefusal,
  fields,
  integer,
  list,
  mapOf,
  never,
  number,
  oneOf,
  type Shape,
  text,
  yesOrNo,
} from "./shape.ts";

const resources = list(fields({ name: text(), weight: integer }));
const shape = list(fields({ utilization: integer, score: integer }));
const requirements = list(fields({ key: text(), operator: text(), values: list(text()) }));
const term = fields({ matchExpressions: requirements, matchFields: requirements });
const labelSelector = fields({ matchLabels: mapOf(text()), matchExpressions: requirements });

/** Arguments of the scheduler's own plugins, none of which refers to a file. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  DefaultPreemption: { minCandidateNodesPercentage: integer, minCandidateNodesAbsolute: integer },
  DynamicResources: { filterTimeout: text(), bindingTimeout: text() },
  InterPodAffinity: { hardPodAffinityWeight: integer, ignorePreferredTermsOfExistingPods: yesOrNo },
  NodeAffinity: {
    addedAffinity: fields({
      requiredDuringSchedulingIgnoredDuringExecution: fields({ nodeSelectorTerms: list(term) }),
      preferredDuringSchedulingIgnoredDuringExecution: list(fields({ weight: integer, preference: term })),
    }),
  },
  NodeResourcesBalancedAllocation: { resources },
  NodeResourcesFit: {
    ignoredResources: list(text()),
    ignoredResourceGroups: list(text()),
    scoringStrategy: fields({
      type: oneOf("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"),
      resources,
      requestedToCapacityRatio: fields({ shape }),
    }),
  },
  PodTopologySpread: {
    defaultConstraints: list(
      fields({
        maxSkew: integer,
        minDomains: integer,
        topologyKey: text(),
        whenUnsatisfiable: oneOf("DoNotSchedule", "ScheduleAnyway"),
        labelSelector,
        matchLabelKeys: list(text()),
        nodeAffinityPolicy: text(),
        nodeTaintsPolicy: text(),
      }),
    ),
    defaultingType: oneOf("System", "List"),
  },
  VolumeBinding: { bindTimeoutSeconds: integer, shape },
};

const VERSIONS = ["kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"];

const pluginConfig: Shape = (value, at, around) => {
  const name = isObject(value) ? value["name"] : undefined;
  const known = typeof name === "string" && Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name] : undefined;
  if (known === undefined)
    throw new FileRefusal(
      `has ${at}.name, which must be one of ${Object.keys(ARGUMENTS).join(", ")}: other plugins take no arguments; remove it`,
    );
  const args = fields({ apiVersion: oneOf(...VERSIONS), kind: oneOf(`${name as string}Args`), ...known });
  return fields({ name: text(), args })(value, at, around);
};

const plugins = list(fields({ name: text(), weight: integer }));
const set = fields({ enabled: plugins, disabled: plugins });
const POINTS =
  "preEnqueue queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind multiPoint";

const file =
  "would have the scheduler read a file of the management host; write its content in base64 into the field with Data at its end instead";
const extender = fields({
  urlPrefix: text(/^https?:\/\//, "an address that begins with https:// or http://"),
  filterVerb: text(),
  preemptVerb: text(),
  prioritizeVerb: text(),
  weight: integer,
  bindVerb: text(),
  enableHTTPS: yesOrNo,
  tlsConfig: fields(
    { insecure: never, serverName: text(), certData: text(), keyData: text(), caData: text() },
    { certFile: file, keyFile: file, caFile: file },
  ),
  httpTimeout: text(),
  nodeCacheCapable: yesOrNo,
  managedResources: list(fields({ name: text(), ignoredByScheduler: yesOrNo })),
  ignorable: yesOrNo,
});

const own = "belongs to the placement; remove it";
const configuration = document(
  "KubeSchedulerConfiguration",
  VERSIONS,
  {
    parallelism: integer,
    leaderElection: fields({
      leaderElect: yesOrNo,
      leaseDuration: text(),
      renewDeadline: text(),
      retryPeriod: text(),
      resourceLock: text(),
      resourceName: text(),
      resourceNamespace: text(),
    }),
    clientConnection: fields({
      kubeconfig: text(
        /^(?:(?:\$FILES|\/proc\/self\/cwd\/files|\/etc\/kubernetes\/pki|\.)\/)?scheduler\.conf$/,
        "scheduler.conf, the scheduler's own",
      ),
      acceptContentTypes: text(),
      contentType: text(),
      qps: number,
      burst: integer,
    }),
    enableProfiling: yesOrNo,
    enableContentionProfiling: yesOrNo,
    percentageOfNodesToScore: integer,
    podInitialBackoffSeconds: integer,
    podMaxBackoffSeconds: integer,
    delayCacheUntilActive: yesOrNo,
    profiles: list(
      fields({
        schedulerName: text(),
        percentageOfNodesToScore: integer,
        plugins: fields(Object.fromEntries(POINTS.split(" ").map((point) => [point, set]))),
        pluginConfig: list(pluginConfig),
      }),
    ),
    extenders: list(extender),
  },
  { healthzBindAddress: own, metricsBindAddress: own },
);

/**
 * Shape of kube-scheduler's `--config`. kube-scheduler ignores `--kubeconfig` with it, so the connection to its own API server is added.
 */
export const SCHEDULER: Shape = (value, at, around) => {
  const checked = configuration(value, at, around) as { clientConnection?: object };
  const kubeconfig = `${around.folder}/scheduler.conf`;
  return { ...checked, clientConnection: { ...checked.clientConnection, kubeconfig } };
};
