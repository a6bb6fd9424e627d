import type { Script, Step } from "../harness/script.ts";

const N = "/api/v1/namespaces/<ns>";
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** A Pod that is refused because of its spec. */
function pod(spec: object): Step {
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "bad", labels: { app: "a" } },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  };
  return { do: `POST ${N}/pods`, body };
}

function context(securityContext: object, spec: object = {}): Step {
  return pod({ containers: [{ name: "c", image: "i", securityContext }], ...spec });
}

/** The same rules hold for the template of a workload. */
function template(spec: object): Step {
  const labels = { app: "a" };
  const pods = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
  return {
    do: "POST /apis/apps/v1/namespaces/<ns>/deployments",
    body: { metadata: { name: "bad" }, spec: { selector: { matchLabels: labels }, template: pods } },
  };
}

function nodes(matchExpressions: object[], matchFields: object[] = []): object {
  return { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions, matchFields }] } } };
}

const apart = (term: object): object => ({ podAntiAffinity: { [REQUIRED]: [term] } });
const spread = (...topologySpreadConstraints: object[]): Step => pod({ topologySpreadConstraints });
const EVEN = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
const SELECTOR = { matchLabels: { app: "a" } };

/** Where Pods may run, and as whom. */
export const podSecurity: Script = {
  name: "pod-security",
  steps: [
    // Affinity to nodes.
    pod({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } } }),
    pod({
      affinity: nodes([
        { key: "a b", operator: "In" },
        { key: "a", operator: "Exists", values: ["x"] },
        { key: "a", operator: "Gt", values: ["1", "2"] },
        { key: "a", operator: "Near" },
        { key: "a", operator: "In", values: ["not valid!"] },
      ]),
    }),
    pod({
      affinity: nodes(
        [],
        [
          { key: "metadata.name", operator: "In", values: ["a", "b"] },
          { key: "metadata.uid", operator: "In", values: ["a"] },
          { key: "metadata.name", operator: "Exists" },
          { key: "metadata.name", operator: "NotIn", values: ["A_b"] },
        ],
      ),
    }),
    pod({
      affinity: {
        nodeAffinity: {
          [PREFERRED]: [
            { weight: 0, preference: {} },
            { weight: 101, preference: { matchExpressions: [{ key: "", operator: "In", values: ["not valid!"] }] } },
          ],
        },
      },
    }),
    // Affinity to pods.
    pod({ affinity: apart({ labelSelector: SELECTOR, topologyKey: "" }) }),
    pod({ affinity: apart({ labelSelector: { matchLabels: { "a b": "c d" } }, topologyKey: "a b" }) }),
    pod({ affinity: apart({ topologyKey: "zone", namespaces: ["A_b"], matchLabelKeys: ["x"] }) }),
    pod({
      affinity: apart({
        labelSelector: SELECTOR,
        namespaceSelector: { matchExpressions: [{ key: "a", operator: "Odd" }] },
        topologyKey: "zone",
        matchLabelKeys: ["v"],
        mismatchLabelKeys: ["v", "a b"],
      }),
    }),
    pod({
      affinity: {
        podAffinity: { [PREFERRED]: [{ weight: 200, podAffinityTerm: { labelSelector: SELECTOR, topologyKey: "z" } }] },
        podAntiAffinity: { [PREFERRED]: [{ weight: -1, podAffinityTerm: { topologyKey: "" } }] },
      },
    }),
    template({ affinity: apart({ labelSelector: SELECTOR, topologyKey: "" }) }),
    // Spreading.
    spread({ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Odd" }),
    spread({ ...EVEN, labelSelector: SELECTOR }, { ...EVEN, maxSkew: 2, labelSelector: SELECTOR }),
    spread({ ...EVEN, minDomains: 0 }),
    spread({ ...EVEN, whenUnsatisfiable: "ScheduleAnyway", minDomains: 2, labelSelector: SELECTOR }),
    spread({ ...EVEN, nodeAffinityPolicy: "Odd", nodeTaintsPolicy: "Odd" }),
    spread({ ...EVEN, matchLabelKeys: ["version"] }),
    spread({ ...EVEN, labelSelector: { matchLabels: { "a b": "c" } }, matchLabelKeys: ["x y"] }),
    template({ topologySpreadConstraints: [{ maxSkew: -1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }] }),
    // The security context of the pod.
    pod({ securityContext: { runAsUser: -1, runAsGroup: -2, fsGroup: 4294967296, supplementalGroups: [1, -1] } }),
    pod({ securityContext: { fsGroupChangePolicy: "Odd" } }),
    pod({ securityContext: { supplementalGroupsPolicy: "Odd" } }),
    pod({ securityContext: { seLinuxChangePolicy: "Odd" } }),
    pod({
      securityContext: {
        sysctls: [
          { name: "", value: "1" },
          { name: "A B", value: "1" },
        ],
      },
    }),
    pod({
      securityContext: {
        sysctls: [
          { name: "kernel.shm_rmid_forced", value: "1" },
          { name: "kernel.shm_rmid_forced", value: "1" },
        ],
      },
    }),
    pod({ hostNetwork: true, securityContext: { sysctls: [{ name: "net.core.somaxconn", value: "1" }] } }),
    pod({ hostIPC: true, securityContext: { sysctls: [{ name: "kernel/sem", value: "1" }] } }),
    pod({ shareProcessNamespace: true, hostPID: true }),
    pod({ securityContext: { seccompProfile: { type: "Odd" } } }),
    pod({ securityContext: { seccompProfile: { type: "" } } }),
    pod({ securityContext: { seccompProfile: { type: "Localhost" } } }),
    pod({ securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "/a/../b" } } }),
    pod({ securityContext: { appArmorProfile: { type: "Odd" } } }),
    pod({ securityContext: { appArmorProfile: { type: "Localhost" } } }),
    pod({ securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: " a " } } }),
    pod({ securityContext: { appArmorProfile: { type: "Unconfined", localhostProfile: "a" } } }),
    pod({ hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true }),
    template({ securityContext: { runAsUser: -1 } }),
    // The security context of a container.
    context({ runAsUser: -1, runAsGroup: 2147483648 }),
    context({ procMount: "Odd" }),
    context({ procMount: "Unmasked" }),
    context({ seccompProfile: { type: "Odd" }, appArmorProfile: { type: "" } }),
    pod({ initContainers: [{ name: "d", image: "i", securityContext: { runAsUser: -1 } }] }),
    // Names and gates.
    pod({ dnsPolicy: "None" }),
    pod({ dnsPolicy: "None", dnsConfig: { searches: ["a"] } }),
    pod({ dnsConfig: { nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "nope"], searches: ["A b", "_x.y."] } }),
    pod({ dnsConfig: { options: [{ name: "" }, { value: "x" }] } }),
    pod({ hostAliases: [{ ip: "nope", hostnames: ["ok", "A_b"] }] }),
    pod({
      readinessGates: [{ conditionType: "a b" }],
      schedulingGates: [{ name: "x" }, { name: "x" }, { name: "a b" }],
    }),
    pod({ os: { name: "plan9" } }),
    pod({ os: {} }),
    template({ preemptionPolicy: "Odd" }),
    // All of it, and right.
    {
      do: `POST ${N}/pods`,
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "placed", labels: { app: "a" } },
        spec: {
          affinity: {
            ...nodes(
              [{ key: "a", operator: "In", values: ["x"] }],
              [{ key: "metadata.name", operator: "In", values: ["n"] }],
            ),
            ...apart({ labelSelector: SELECTOR, topologyKey: "kubernetes.io/hostname" }),
          },
          topologySpreadConstraints: [{ ...EVEN, labelSelector: SELECTOR, minDomains: 2, nodeTaintsPolicy: "Honor" }],
          securityContext: {
            runAsUser: 1000,
            fsGroup: 0,
            fsGroupChangePolicy: "OnRootMismatch",
            seccompProfile: { type: "RuntimeDefault" },
            sysctls: [{ name: "kernel.shm_rmid_forced", value: "1" }],
          },
          dnsConfig: { nameservers: ["1.1.1.1"], searches: ["a.b.", "_x.y"], options: [{ name: "ndots", value: "2" }] },
          hostAliases: [{ ip: "10.0.0.1", hostnames: ["a.b"] }],
          readinessGates: [{ conditionType: "example.dev/ready" }],
          containers: [
            {
              name: "c",
              image: "i",
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, runAsNonRoot: true },
            },
          ],
        },
      },
      differs: "workload-warning",
      only: ["spec.affinity", "spec.topologySpreadConstraints", "spec.securityContext", "spec.dnsConfig"],
    },
  ],
};
