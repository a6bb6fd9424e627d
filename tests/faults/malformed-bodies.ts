import { type Random, randomInt } from "@capstan/apimachinery";

const VALID = [
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":"b"}},"data":{"k":"v"}}',
  '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"k":"AA=="},"type":"Opaque"}',
  '{"apiVersion":"faults.example/v1","kind":"Gear","metadata":{"name":"g"},"spec":{"replicas":1,"list":[{"a":1}],"text":"x"}}',
  '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}',
  '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b.example"},"spec":{"group":"b.example","scope":"Namespaced","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.a > 1"}],"properties":{"a":{"type":"integer"}}}}}}}]}}',
  '[{"op":"replace","path":"/data/k","value":"w"},{"op":"test","path":"/metadata/name","value":"x"},{"op":"move","from":"/a","path":"/b"}]',
  '{"spec":{"$patch":"replace","$setElementOrder/list":[1],"list":[{"$patch":"delete","a":1}]}}',
  '{"apiVersion":"faults.example/v1","kind":"Gear","metadata":{"name":"g","resourceVersion":"x"},"spec":{"replicas":"2","list":{"a":1}}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt","resourceVersion":"-1"},"data":{"k":5}}',
  '{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"g"},"spec":{"replicas":2}}',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]}},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}',
  '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}',
  '{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods","fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}}}}',
  '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["a"],"expirationSeconds":600,"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}',
  '{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"c"},"spec":{"request":"AAAA","signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth"]}}',
  '{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"w"},"webhooks":[{"name":"a.b.c","failurePolicy":"Ignore","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1"},"matchConditions":[{"name":"m","expression":"object.a == 1"}],"rules":[{"apiGroups":["none.example"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["nothing"]}]}]}',
  '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"},"propagationPolicy":"Orphan"}',
  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\n  annotations: {a: &x b, c: *x}\ndata: {k: yes}\n",
];
const TOKENS = [
  "null",
  "{}",
  "[]",
  '""',
  "1e999",
  "-0",
  "true",
  "[[[[",
  "}}}}",
  '"\\ud800"',
  '"\\u0000"',
  ",",
  ":",
  "0x1",
  "&a [*a, *a]",
  "!!binary x",
  "__proto__",
  "9007199254740993",
  "1.5",
];

/** JSON or YAML that was mutated, truncated or filled with noise. */
export function textBody(random: Random): Buffer {
  let text = VALID[randomInt(random, VALID.length)] ?? "";
  const times = randomInt(random, 4);
  for (let i = 0; i < times; i++) {
    const at = randomInt(random, text.length + 1);
    const token = TOKENS[randomInt(random, TOKENS.length)] ?? "";
    switch (randomInt(random, 4)) {
      case 0:
        text = text.slice(0, at);
        break;
      case 1:
        text = text.slice(0, at) + token + text.slice(at);
        break;
      case 2:
        // Another value in place of one: still JSON, but of the wrong type.
        text = text.replace(/:("[^"]*"|\d+|true|\[[^[\]]*\])/, `:${token}`);
        break;
      default:
        text = text.slice(0, at) + String.fromCharCode(randomInt(random, 256)) + text.slice(at + 1);
    }
  }
  return Buffer.from(text, randomInt(random, 10) === 0 ? "latin1" : "utf8");
}

/** A protobuf envelope around noise, or noise alone. */
export function protobufBody(random: Random): Buffer {
  const kinds = ["ConfigMap", "Secret", "Lease", "Event", "Role", "DeleteOptions", "Nope"];
  const kind = kinds[randomInt(random, kinds.length)] ?? "";
  const raw = random.bytes(randomInt(random, 200));
  const field = (number: number, bytes: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, ...length(bytes.length)]), bytes]);
  const type = Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from(kind))]);
  const message = Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, raw)]);
  return randomInt(random, 4) === 0 ? message.subarray(0, randomInt(random, message.length)) : message;
}

/** Deep, wide or large documents. */
export function deepBody(random: Random): Buffer {
  const size = 10 ** (1 + randomInt(random, 5));
  switch (randomInt(random, 6)) {
    case 0:
      return Buffer.from("[".repeat(size));
    case 1:
      return Buffer.from(`{"a":`.repeat(size) + "1" + "}".repeat(size));
    case 2:
      return Buffer.from(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{${keys(size)}}}`);
    case 3:
      return Buffer.from(`a: ${"- ".repeat(Math.min(size, 10_000))}x`);
    case 4:
      return Buffer.from(`x: &a [${"b,".repeat(Math.min(size, 1000))}]\ny: [${"*a,".repeat(Math.min(size, 1000))}]`);
    default:
      return Buffer.from(`[${'{"op":"add","path":"/data/k","value":"v"},'.repeat(Math.min(size, 20_000))}{}]`);
  }
}

function keys(count: number): string {
  return Array.from({ length: Math.min(count, 20_000) }, (_, i) => `"k${i}":"v"`).join(",");
}

function length(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, value >> 7];
}
