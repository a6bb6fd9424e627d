import { isObject, type JsonObject } from "@capstan/apimachinery";
import { canonicalQuantities } from "../quantities.ts";
import { at, child, list, objects, setDefault, text } from "../read.ts";

/** Fills what the real server fills in a PodSpec, in place. */
export function applyPodSpecDefaults(spec: JsonObject): void {
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "securityContext", {});
  setDefault(spec, "schedulerName", "default-scheduler");
  const account = text(spec.serviceAccountName) || text(spec.serviceAccount);
  if (account !== "") {
    spec.serviceAccountName = account;
    spec.serviceAccount = account;
  }
  for (const volume of objects(spec.volumes)) applyVolumeDefaults(volume);
  for (const key of ["initContainers", "containers", "ephemeralContainers"])
    for (const container of objects(spec[key])) applyContainerDefaults(container, spec.hostNetwork === true);
}

/** Fills `template.spec` of a workload. */
export function applyTemplateDefaults(spec: JsonObject): void {
  applyPodSpecDefaults(child(child(spec, "template"), "spec"));
}

function applyContainerDefaults(container: JsonObject, hostNetwork: boolean): void {
  setDefault(container, "resources", {});
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  if (text(container.imagePullPolicy) === "") container.imagePullPolicy = pullPolicy(text(container.image));
  for (const port of objects(container.ports)) {
    setDefault(port, "protocol", "TCP");
    if (hostNetwork) setDefault(port, "hostPort", port.containerPort);
  }
  for (const env of objects(container.env)) {
    const ref = at(env, "valueFrom", "fieldRef");
    if (isObject(ref)) setDefault(ref, "apiVersion", "v1");
  }
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[key];
    if (isObject(probe)) applyProbeDefaults(probe);
  }
  const resources = container.resources;
  if (isObject(resources)) {
    canonicalQuantities(resources.limits);
    canonicalQuantities(resources.requests);
  }
}

/** A limit without a request is also the request; the real server does this for Pods, not for templates. */
export function copyLimitsToRequests(spec: JsonObject): void {
  for (const key of ["initContainers", "containers"])
    for (const container of objects(spec[key])) {
      const limits = at(container, "resources", "limits");
      if (!isObject(limits) || Object.keys(limits).length === 0) continue;
      const requests = child(child(container, "resources"), "requests");
      for (const [name, value] of Object.entries(limits)) setDefault(requests, name, value);
    }
}

/** Always for images without a tag or with `latest`. */
function pullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = image.slice(image.lastIndexOf("/") + 1).split(":")[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

function applyProbeDefaults(probe: JsonObject): void {
  setDefault(probe, "timeoutSeconds", 1);
  setDefault(probe, "periodSeconds", 10);
  setDefault(probe, "successThreshold", 1);
  setDefault(probe, "failureThreshold", 3);
  const get = probe.httpGet;
  if (isObject(get)) {
    setDefault(get, "path", "/");
    setDefault(get, "scheme", "HTTP");
  }
  const grpc = probe.grpc;
  if (isObject(grpc)) setDefault(grpc, "service", "");
}

const DEFAULT_MODE = 0o644;

function applyVolumeDefaults(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  for (const key of ["secret", "configMap", "downwardAPI", "projected"]) {
    const source = volume[key];
    if (isObject(source)) setDefault(source, "defaultMode", DEFAULT_MODE);
  }
  const host = volume.hostPath;
  if (isObject(host)) setDefault(host, "type", "");
  const items = [...list(at(volume, "downwardAPI", "items"))];
  for (const source of list(at(volume, "projected", "sources"))) {
    items.push(...list(at(source, "downwardAPI", "items")));
    const token = at(source, "serviceAccountToken");
    if (isObject(token)) setDefault(token, "expirationSeconds", 3600);
  }
  for (const item of items) {
    const ref = at(item, "fieldRef");
    if (isObject(ref)) setDefault(ref, "apiVersion", "v1");
  }
}
