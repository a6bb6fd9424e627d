import { fieldErrorText } from "@capstan/apimachinery";
import { expect, it } from "vitest";
import { podSpecErrors } from "./pod-errors.ts";

const container = {
  name: "c",
  image: "i",
  terminationMessagePolicy: "File",
  imagePullPolicy: "Always",
};
const SPEC = { containers: [container], restartPolicy: "Always", dnsPolicy: "ClusterFirst" };
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const selector = { matchLabels: { app: "a" } };
const term = (matchExpressions: object[], matchFields: object[] = []): object => ({
  affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions, matchFields }] } } },
});
const apart = (rule: object): object => ({ affinity: { podAntiAffinity: { [REQUIRED]: [rule] } } });
const spread = (...topologySpreadConstraints: object[]): object => ({ topologySpreadConstraints });
const EVEN = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
const secured = (securityContext: object): object => ({ containers: [{ ...container, securityContext }] });

/** tests/conformance/scripts/pod-security.ts asks the real server the same. */
it.each<[string, object, string[]]>([
  ["nothing wrong", {}, []],
  [
    "no terms",
    { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } } },
    [
      `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms: Required value: must have at least one node selector term`,
    ],
  ],
  [
    "operators and values",
    term([
      { key: "a", operator: "Gt", values: ["1", "2"] },
      { key: "a", operator: "Near" },
    ]),
    [
      `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
      `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "Near": not a valid selector operator`,
    ],
  ],
  [
    "fields of nodes",
    term([], [{ key: "metadata.uid", operator: "In", values: ["a"] }]),
    [
      `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key`,
    ],
  ],
  [
    "weights",
    { affinity: { nodeAffinity: { [PREFERRED]: [{ weight: 101, preference: {} }] } } },
    [`spec.affinity.nodeAffinity.${PREFERRED}[0].weight: Invalid value: 101: must be in the range 1-100`],
  ],
  [
    "keys without a selector",
    apart({ topologyKey: "zone", matchLabelKeys: ["x"] }),
    [
      `spec.affinity.podAntiAffinity.${REQUIRED}[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
    ],
  ],
  ["a good distance", apart({ labelSelector: selector, topologyKey: "zone" }), []],
  [
    "the same constraint twice",
    spread({ ...EVEN, labelSelector: selector }, { ...EVEN, labelSelector: selector }),
    [`spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"`],
  ],
  [
    "no skew",
    spread({ ...EVEN, maxSkew: 0 }),
    ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
  ],
  [
    "users",
    { securityContext: { runAsUser: -1 } },
    ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
  [
    "sysctls of the host",
    { hostNetwork: true, securityContext: { sysctls: [{ name: "net.core.somaxconn", value: "1" }] } },
    [
      `spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`,
    ],
  ],
  [
    "a profile without a file",
    secured({ seccompProfile: { type: "Localhost" } }),
    [
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
    ],
  ],
  [
    "an open /proc",
    secured({ procMount: "Unmasked" }),
    [
      'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
    ],
  ],
  ["user namespaces", { hostUsers: false, hostPID: true }, ["spec.HostPID: Forbidden: when `hostUsers` is false"]],
  [
    "DNS of its own",
    { dnsPolicy: "None", dnsConfig: {} },
    ["spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"],
  ],
  ["gates", { schedulingGates: [{ name: "x" }, { name: "x" }] }, ['spec.schedulingGates[1]: Duplicate value: "x"']],
])("%s", (_title, spec, expected) => {
  expect(podSpecErrors({ ...SPEC, ...spec }, "spec").map(fieldErrorText)).toEqual(expected);
});
