import type { Unstructured } from "@capstan/apimachinery";
import type { AnyKind } from "./kinds.ts";

const RBAC = "rbac.authorization.k8s.io";
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

/** Kinds whose objects hold credentials: like Secrets, they are not for `view`. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  // spec.joinConfiguration.discovery.bootstrapToken.token lets a node join.
  "kubeadmconfigs.bootstrap.cluster.x-k8s.io",
  // status.bootstrapKubeconfigData lets a host enrol.
  "bootstrapkubeconfigs.infrastructure.cluster.x-k8s.io",
]);

/**
 * Kinds that stand for machines and addresses outside the API, or that only controllers write. Whoever writes them decides about
 * hardware and networks that others use too: for `admin` of the namespace, not for `edit`.
 */
const INVENTORY: ReadonlySet<string> = new Set([
  "baremetalhosts.metal3.io",
  "hardwaredata.metal3.io",
  "byohosts.infrastructure.cluster.x-k8s.io",
  "bootstrapkubeconfigs.infrastructure.cluster.x-k8s.io",
  "metal3datas.infrastructure.cluster.x-k8s.io",
  "inclusterippools.ipam.cluster.x-k8s.io",
  "inclusterprefixpools.ipam.cluster.x-k8s.io",
  "ipaddresses.ipam.cluster.x-k8s.io",
  "ippools.ipam.metal3.io",
  "ipaddresses.ipam.metal3.io",
  "clusterresourcesetbindings.addons.cluster.x-k8s.io",
]);

/** The kinds of a provider, sorted by the role that may use them. */
function kindsFor(kinds: readonly AnyKind[]): { view: AnyKind[]; edit: AnyKind[]; admin: AnyKind[] } {
  const local = kinds.filter(({ namespaced }) => namespaced);
  return {
    view: kinds.filter((kind) => !CREDENTIALS.has(resourceOf(kind))),
    edit: local.filter((kind) => !INVENTORY.has(resourceOf(kind))),
    // Cluster-scoped kinds belong to all tenants: only cluster-admin writes them.
    admin: local,
  };
}

function resourceOf({ plural, group }: AnyKind): string {
  return `${plural}.${group}`;
}

/**
 * ClusterRoles that extend Kubernetes' own `view`, `edit` and `admin` by these kinds, so that the roles people know show and change
 * clusters too. None of them contains Secrets, and nobody but controllers writes a status.
 */
export function userRoles(name: string, kinds: readonly AnyKind[]): Unstructured[] {
  const { view, edit, admin } = kindsFor(kinds);
  const secret = kinds.filter((kind) => CREDENTIALS.has(resourceOf(kind)));
  return [
    role(name, "view", rules(view, READ, ["", "/status", "/scale"])),
    role(name, "edit", [...rules(secret, READ, ["", "/status"]), ...rules(edit, WRITE, ["", "/scale"])]),
    role(name, "admin", rules(admin, WRITE, ["", "/scale"])),
  ].filter(({ rules: granted }) => (granted as object[]).length > 0);
}

function role(name: string, target: string, granted: object[]): Unstructured {
  const labels = { [`${RBAC}/aggregate-to-${target}`]: "true" };
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: `${name}-aggregate-to-${target}`, labels },
    rules: granted,
  };
}

function rules(kinds: readonly AnyKind[], verbs: readonly string[], parts: readonly string[]): object[] {
  return [...new Set(kinds.map(({ group }) => group))].map((group) => ({
    apiGroups: [group],
    resources: kinds
      .filter((kind) => kind.group === group)
      .flatMap((kind) => parts.filter((part) => has(kind, part)).map((part) => `${kind.plural}${part}`)),
    verbs,
  }));
}

/** Whether a kind has the part: itself, or a subresource that its CRD names. */
function has(kind: AnyKind, part: string): boolean {
  if (part === "") return true;
  const { spec } = kind.crd() as { spec?: { versions?: { name: string; subresources?: object }[] } };
  const served = spec?.versions?.find(({ name }) => name === kind.version);
  return Object.hasOwn(served?.subresources ?? {}, part.slice(1));
}
