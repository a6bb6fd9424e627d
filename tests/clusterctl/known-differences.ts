/** Lines of `crdDifferences` that are meant, each with the reason. A line that none of them is for fails the comparison. */
const KNOWN: readonly { line: RegExp; kinds?: RegExp; reason: string }[] = [
  {
    line: /\.matchExpressions\[\]\.operator enum: nothing, ours \["In","NotIn","Exists","DoesNotExist"\]$/,
    reason: "an operator that there is not is refused at once, not when the selector is used",
  },
  {
    line: /^v1beta[12] \.spec\.replicas minimum: nothing, ours 0$/,
    reason: "upstream's webhook refuses a negative number",
  },
  {
    line: /\.bootstrapTokens\[\]\.token (pattern|minLength|maxLength): /,
    reason: "upstream's decoder refuses what is not id.secret",
  },
  {
    line: /^v1beta2 (\.spec|\.spec\.template|\.spec(\.template\.spec)?\.kubeadmConfigSpec|\.spec\.template\.spec) minProperties: 1, ours nothing$/,
    kinds: /^kubeadm/,
    reason: "a node of a hosted control plane needs nothing said: an empty spec is fine",
  },
  {
    line: /\.status\.nodeInfo required: /,
    reason: "a field of it that a kubelet does not tell is left out",
  },
  {
    line: /^v1beta[12] {2}required: \["metadata","spec"\]/,
    kinds: /^machinedrainrules/,
    reason: "an object without metadata has no name and is refused anyway",
  },
  {
    line: /(failureReason) (minLength|maxLength): /,
    kinds: /^kubeadmconfigs/,
    reason: "one schema for all kinds that have it",
  },
  { line: /^v1alpha1: not served by ours$/, kinds: /\.ipam\./, reason: "deprecated upstream" },
  {
    line: /^v1beta1 subresources: \{"status":\{\}\}, ours \{\}$/,
    kinds: /^clusterresourcesetbindings/,
    reason: "the kind has no status in the stored version",
  },
  {
    line: /^v1beta1 \S+rolloutStrategy default: /,
    kinds: /^kubeadmcontrolplane/,
    reason: "a control plane gets the same from admission, whichever version is spoken",
  },
  // v1beta1: what was loose there and is strict in the stored version.
  {
    line: /^v1beta1 \S+ (minItems|minProperties|minimum): \d+, ours nothing$/,
    reason: "an empty list, object or zero is taken and left out of the stored version",
  },
  {
    line: /^v1beta1 \S+(Timeout|timeout|timeoutForControlPlane|ttl) (pattern|maxLength): nothing, ours /,
    reason: "upstream's decoder refuses what is no duration",
  },
  {
    line: /^v1beta1 \S+ (pattern|minLength|maxLength|minimum|maximum|maxItems|format): (nothing|\d+), ours /,
    reason: "what the stored version would refuse is refused by the schema, not by the conversion or a webhook",
  },
  {
    line: /^v1beta1 \S+ (x-kubernetes-map-type|default): .*, ours nothing$/,
    kinds: /\.ipam\./,
    reason: "references are of the stored version's type",
  },
  {
    line: /^v1beta1 \S* required: /,
    reason: "what the stored version demands is demanded, what it does not is not",
  },
  {
    line: /^v1beta1 \S+partitions\[\] x-kubernetes-validations: nothing, ours /,
    reason: "the stored version's rule: either layout or diskLayout",
  },
  {
    line: /^v1beta1 \.status\.phase enum: /,
    kinds: /^machines\./,
    reason: "a Machine that is updated in place is shown so",
  },
];

/** Why a difference is meant; undefined for one that is not. */
export function differenceReason(name: string, line: string): string | undefined {
  return KNOWN.find((known) => known.line.test(line) && (known.kinds?.test(name) ?? true))?.reason;
}

/** Entries that no difference is left for. */
export function unusedReasons(all: readonly { name: string; line: string }[]): string[] {
  return KNOWN.filter(
    ({ line, kinds }) => !all.some((found) => line.test(found.line) && (kinds?.test(found.name) ?? true)),
  ).map(({ line }) => String(line));
}
