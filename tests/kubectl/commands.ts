import type { KubectlStep } from "./script.ts";

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.kubectl.example}
spec:
  group: kubectl.example
  scope: Namespaced
  names: {plural: gears, singular: gear, kind: Gear, shortNames: [gr], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Note, type: string, jsonPath: .spec.note, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A gear turns.
        properties:
          spec:
            type: object
            description: What is wanted.
            properties:
              replicas: {type: integer, description: How many., minimum: 0}
              note: {type: string, description: Any text.}
              teeth:
                type: array
                items: {type: object, properties: {size: {type: integer, description: Of one tooth.}}}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
`;

const gear = (note: string, replicas = 1): string =>
  `apiVersion: kubectl.example/v1\nkind: Gear\nmetadata: {name: g}\nspec: {replicas: ${replicas}, note: ${note}}\n`;
const cm = (data: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {${data}}\n`;

/** Every kubectl command that people and scripts use on objects, in the order of one story. */
export const COMMANDS: readonly KubectlStep[] = [
  { run: "version", compare: "code" },
  { run: "cluster-info", compare: "code" },
  { run: "api-versions", compare: "code", contains: "apiextensions.k8s.io/v1" },
  { run: "create namespace $ns" },
  { run: "create namespace $ns" },
  { run: "get namespace $ns" },
  { run: "create -f -", input: CRD },
  { run: "wait --for=condition=Established crd/gears.kubectl.example --timeout=30s" },
  { run: "wait --for=create sa/default -n $ns --timeout=30s" },
  { run: "wait --for=create configmap/kube-root-ca.crt -n $ns --timeout=30s" },
  { run: "api-resources --api-group=kubectl.example" },
  { run: "api-resources --api-group=kubectl.example -o wide" },
  { run: "api-resources --namespaced=false --api-group=rbac.authorization.k8s.io" },
  { run: "get --raw /openapi/v3/apis/kubectl.example/v1", compare: "code", awaited: true },
  { run: "explain gear", contains: "What is wanted.", awaited: true },
  { run: "explain gear.spec.replicas", awaited: true },
  { run: "explain gear --recursive", awaited: true },
  { run: "explain gear.nope" },
  { run: "explain configmap.data", compare: "code" },
  { run: "explain nope" },
  { run: "apply -n $ns -f -", input: gear("first") },
  { run: "apply -n $ns -f -", input: gear("first") },
  { run: "apply -n $ns -f -", input: gear("second", 2) },
  { run: "apply -n $ns -f - --dry-run=server", input: gear("third", 2) },
  { run: "diff -n $ns -f -", input: gear("third", 2), mask: [/\/tmp\/\S+|\d{4}-\d\d-\d\d \S+ \S+/] },
  { run: "diff -n $ns -f -", input: gear("second", 2) },
  { run: "apply -n $ns -f - --validate=strict", input: `${gear("x")}extra: 1\n` },
  {
    run: "apply -n $ns -f -",
    input: "apiVersion: kubectl.example/v1\nkind: Gear\nmetadata: {name: g}\nspec: {replicas: -1}\n",
  },
  { run: "apply -n $ns -f -", input: "apiVersion: nope.example/v1\nkind: Nope\nmetadata: {name: g}\n" },
  { run: "apply view-last-applied -n $ns gear/g" },
  { run: "get gear -n $ns" },
  { run: "get gr g -n $ns -o wide" },
  { run: "get gear g -n $ns -o jsonpath={.spec}" },
  { run: "get gear g -n $ns -o name" },
  { run: "get gear g -n $ns -o yaml" },
  { run: "get gear g -n $ns -o json --show-managed-fields=false", compare: "code" },
  { run: "get gear -n $ns -o custom-columns=NAME:.metadata.name,NOTE:.spec.note" },
  { run: "get gear -n $ns --no-headers -l nope=x" },
  { run: "get gear nope -n $ns" },
  { run: "get nope -n $ns" },
  { run: "get gear g -n $ns --subresource=status", compare: "code" },
  { run: "get all -n $ns" },
  { run: "get --raw /healthz" },
  { run: "describe gear g -n $ns", mask: [/(UID|Resource Version|Creation Timestamp|Time):\s+\S+/] },
  { run: "label gear g -n $ns color=red" },
  { run: "label gear g -n $ns color=blue" },
  { run: "label gear g -n $ns color=blue --overwrite" },
  { run: "label gear -n $ns --all tier=one" },
  { run: "get gear -n $ns -l color=blue -L color" },
  { run: "label gear g -n $ns tier-" },
  { run: "annotate gear g -n $ns note=x" },
  { run: "annotate gear g -n $ns note-" },
  { run: 'patch gear g -n $ns --type=merge -p \'{"spec":{"note":"patched"}}\'' },
  { run: 'patch gear g -n $ns --type=json -p \'[{"op":"replace","path":"/spec/note","value":"again"}]\'' },
  { run: 'patch gear g -n $ns -p \'{"spec":{"note":"strategic"}}\'' },
  { run: 'patch gear g -n $ns --subresource=status --type=merge -p \'{"status":{"replicas":2}}\'' },
  { run: 'patch gear g -n $ns --type=json -p \'[{"op":"remove","path":"/spec/nope"}]\'' },
  { run: "scale gear g -n $ns --replicas=5" },
  { run: "scale gear g -n $ns --replicas=6 --current-replicas=4" },
  { run: "get gear g -n $ns" },
  { run: "apply -n $ns --server-side -f -", input: gear("server") },
  { run: "apply -n $ns --server-side --force-conflicts -f -", input: gear("server") },
  { run: "apply -n $ns --server-side --field-manager=other -f -", input: gear("other") },
  { run: "apply -n $ns --server-side --field-manager=other --force-conflicts -f -", input: gear("other", 3) },
  { run: "apply -n $ns --server-side --dry-run=server --force-conflicts -f -", input: gear("dry") },
  { run: "edit gear g -n $ns", env: { EDITOR: "sed -i s/other/edited/" } },
  { run: "get gear g -n $ns -o jsonpath={.spec.note}" },
  { run: "edit gear g -n $ns", env: { EDITOR: "true" } },
  { run: "replace -n $ns -f -", input: gear("replaced") },
  { run: "replace -n $ns --force -f -", input: gear("forced") },
  { run: "wait -n $ns gear/g --for=jsonpath={.spec.note}=forced --timeout=5s" },
  {
    run: 'patch gear g -n $ns --subresource=status --type=merge -p \'{"status":{"conditions":[{"type":"Ready","status":"True"}]}}\'',
  },
  { run: "wait -n $ns gear/g --for=condition=Ready --timeout=5s" },
  { run: "wait -n $ns gear/g --for=condition=Nope --timeout=0s" },
  { run: "rollout status gear/g -n $ns" },
  // Built-in kinds, whose clients speak protobuf.
  { run: "create configmap made -n $ns --from-literal=a=1 --from-literal=b=2" },
  { run: "create configmap made -n $ns --from-literal=a=1" },
  { run: "create secret generic sec -n $ns --from-literal=password=x" },
  { run: "get secret sec -n $ns -o jsonpath={.data.password}" },
  { run: "describe secret sec -n $ns" },
  { run: "create serviceaccount robot -n $ns" },
  { run: "create token robot -n $ns --duration=10m", compare: "code" },
  { run: "create token missing -n $ns" },
  { run: "create role reader -n $ns --verb=get,list --resource=configmaps" },
  { run: "create rolebinding reads -n $ns --role=reader --serviceaccount=$ns:robot" },
  { run: "create clusterrole kubectl-suite --verb=get --resource=gears.kubectl.example" },
  { run: "create clusterrolebinding kubectl-suite --clusterrole=kubectl-suite --user=jane" },
  { run: "describe role reader -n $ns" },
  { run: "auth can-i get configmaps -n $ns --as=system:serviceaccount:$ns:robot" },
  { run: "auth can-i delete configmaps -n $ns --as=system:serviceaccount:$ns:robot" },
  { run: "auth can-i --list -n $ns --as=system:serviceaccount:$ns:robot", compare: "code", contains: "configmaps" },
  { run: "auth can-i '*' '*' -A" },
  { run: "auth can-i get gears -n $ns --as=jane" },
  { run: "auth whoami", mask: [/X509SHA256=\w+/] },
  { run: "auth whoami --as=jane --as-group=devs" },
  { run: "get configmaps -n $ns --as=system:serviceaccount:$ns:robot" },
  { run: "get secrets -n $ns --as=system:serviceaccount:$ns:robot" },
  {
    run: "auth reconcile -f -",
    input:
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: kubectl-suite}\nrules:\n- {apiGroups: [''], resources: [pods], verbs: [get]}\n",
  },
  { run: "apply -n $ns -f -", input: cm("a: '1', b: '2'") },
  { run: "apply -n $ns -f -", input: cm("a: '1', c: '3'") },
  { run: "get configmap cm -n $ns -o jsonpath={.data}" },
  { run: "apply -n $ns -f -", input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: 1}\n" },
  { run: 'patch configmap cm -n $ns -p \'{"data":{"d":"4"}}\'' },
  { run: "set data configmap/cm -n $ns x=y", compare: "code" },
  { run: "get configmap cm -n $ns -o yaml" },
  { run: "get configmaps,secrets -n $ns --field-selector=metadata.name=cm" },
  { run: "events -n $ns" },
  {
    run: "create -n $ns -f -",
    input:
      "apiVersion: v1\nkind: Event\nmetadata: {name: ev}\ninvolvedObject: {kind: Gear, name: g, namespace: $ns, apiVersion: kubectl.example/v1}\nreason: Turned\nmessage: it turns\ntype: Normal\nfirstTimestamp: 2020-01-01T00:00:00Z\nlastTimestamp: 2020-01-01T00:00:00Z\ncount: 1\n",
  },
  { run: "events -n $ns", mask: [/\d+y\d*d?|\d+d/] },
  { run: "events -n $ns --for gear/g", mask: [/\d+y\d*d?|\d+d/] },
  { run: "get events -n $ns", mask: [/\d+y\d*d?|\d+d/] },
  { run: "create quota q -n $ns --dry-run=client -o name" },
  { run: "kustomize --help", compare: "code" },
  // Deletion.
  { run: "create configmap owner -n $ns" },
  { run: "delete configmap owner -n $ns --cascade=orphan" },
  { run: "create configmap owner -n $ns" },
  { run: "delete configmap owner -n $ns --cascade=foreground --timeout=20s" },
  { run: "delete configmap made -n $ns --cascade=background --dry-run=server" },
  { run: "delete configmap made -n $ns --now" },
  { run: "delete configmap made -n $ns" },
  { run: "delete configmap made -n $ns --ignore-not-found" },
  { run: "delete gear -n $ns --all" },
  { run: "delete gear -n $ns -l a=b" },
  { run: "delete -n $ns -f -", input: cm("a: '1'") },
  { run: "delete clusterrole,clusterrolebinding kubectl-suite" },
  { run: "delete crd gears.kubectl.example --timeout=30s" },
  { run: "get gear -n $ns", compare: "code" },
  { run: "delete namespace $ns --timeout=60s" },
  { run: "get namespace $ns" },
];
