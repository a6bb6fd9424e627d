import { formatTime } from "@capstan/apimachinery";
import { type ConditionInput, Secret, withTransitionTimes } from "@capstan/capi";
import {
  ByoHost,
  byoHost,
  ENROL_HOST_ANNOTATION,
  enrolmentSecret,
  hostRights,
  newEnrolmentToken,
} from "@capstan/host-agent";
import { buildKubeconfig } from "@capstan/pki";
import { type Controller, controller, done, type ReconcileContext, type Result, requeueAfter } from "@capstan/runtime";
import { BootstrapKubeconfig } from "../kinds/bootstrap-kubeconfig.ts";
import { USED_ANNOTATION } from "./approve-hosts.ts";

const LIFE_MS = 30 * 60_000;
/** How soon it shows that a token was used. */
const LOOK_MS = 10_000;

type Status = NonNullable<BootstrapKubeconfig["status"]>;

/** Issues the kubeconfig that a host enrols with, and removes it once it has been used or has expired. */
export function bootstrapKubeconfigController(): Controller {
  return controller("byo-bootstrap-kubeconfig")
    .for(BootstrapKubeconfig)
    .reconcile(async (request, context) => {
      const object = context.cache.get(BootstrapKubeconfig, request);
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done();
      return object.status?.tokenID === undefined ? await make(object, context) : await look(object, context);
    });
}

async function make(object: BootstrapKubeconfig, context: ReconcileContext): Promise<Result> {
  const { namespace = "", name = "" } = object.metadata;
  const host = object.spec.hostName ?? name;
  const caPem = Buffer.from(object.spec["certificate-authority-data"], "base64").toString("utf8");
  const live = await context.client.get(ByoHost, { namespace, name: host }, context.signal);
  const problem = problemOf(object, caPem, live);
  if (problem !== undefined) {
    await report(
      object,
      {},
      { type: "Ready", status: "False", reason: problem.reason, message: problem.message },
      context,
    );
    return done();
  }
  const token = newEnrolmentToken(context.random);
  // Permissions of an earlier host of that name must not pass to the new one.
  for (const right of live === undefined ? hostRights(byoHost(namespace, host, {}), []) : [])
    await context.client.delete(right, {}, context.signal);
  const target = live ?? (await context.client.apply(byoHost(namespace, host, {}), {}, context.signal));
  await context.client.apply(enrolmentSecret(token, target, context.clock, LIFE_MS), {}, context.signal);
  const bootstrapKubeconfigData = buildKubeconfig({
    server: object.spec.apiserver,
    caPem,
    clusterName: "default-cluster",
    userName: "default-auth",
    contextName: "default-context",
    token: `${token.id}.${token.secret}`,
  });
  const expiresAt = formatTime(context.clock.now() + LIFE_MS);
  const ready: ConditionInput = {
    type: "Ready",
    status: "True",
    reason: "TokenGood",
    message: `valid once, for host ${host}: capstan-host-agent --bootstrap-kubeconfig FILE --namespace ${namespace} --name ${host}`,
  };
  await report(object, { bootstrapKubeconfigData, expiresAt, tokenID: token.id }, ready, context);
  return requeueAfter(LOOK_MS);
}

function problemOf(
  object: BootstrapKubeconfig,
  caPem: string,
  host: ByoHost | undefined,
): { reason: string; message: string } | undefined {
  if (object.spec["insecure-skip-tls-verify"] === true)
    return {
      reason: "InsecureRefused",
      message: "with insecure-skip-tls-verify any server could take over the host: remove it",
    };
  if (!caPem.includes("-----BEGIN CERTIFICATE-----"))
    return { reason: "AuthorityInvalid", message: "certificate-authority-data is not base64 of a PEM certificate" };
  // Otherwise a user who may create these objects could impersonate a host that is in use.
  if (host?.status?.lastHeartbeatTime !== undefined)
    return {
      reason: "HostEnrolledAlready",
      message: `host ${host.metadata.name} has an agent: remove it first with capstan host remove ${host.metadata.name}`,
    };
  return undefined;
}

async function look(object: BootstrapKubeconfig, context: ReconcileContext): Promise<Result> {
  const { bootstrapKubeconfigData, expiresAt = "", tokenID = "" } = object.status ?? {};
  if (bootstrapKubeconfigData === undefined) return done();
  const key = { namespace: "kube-system", name: `bootstrap-token-${tokenID}` };
  const found = await context.client.get(Secret, key, context.signal);
  // A user who may write the status may name any token: tokens of other hosts must look like missing ones.
  const { namespace = "", name = "" } = object.metadata;
  const host = `${namespace}/${object.spec.hostName ?? name}`;
  const secret = found?.metadata.annotations?.[ENROL_HOST_ANNOTATION] === host ? found : undefined;
  const isUsed = secret?.metadata.annotations?.[USED_ANNOTATION] !== undefined;
  const isOld = secret === undefined || context.clock.now() >= Date.parse(expiresAt);
  if (!isUsed && !isOld) return requeueAfter(LOOK_MS);
  const over: ConditionInput = {
    type: "Ready",
    status: "False",
    reason: isUsed ? "TokenUsed" : "TokenExpired",
    message: isUsed
      ? "a host has enrolled with it"
      : "no host enrolled in time: delete this object and create a new one",
  };
  await report(object, { expiresAt, tokenID }, over, context);
  return done();
}

async function report(
  object: BootstrapKubeconfig,
  fields: Omit<Status, "conditions">,
  condition: ConditionInput,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name, generation } = object.metadata;
  const conditions = withTransitionTimes([condition], object.status?.conditions ?? [], context.clock.now(), generation);
  const { apiVersion, kind } = BootstrapKubeconfig;
  const desired = { apiVersion, kind, metadata: { namespace, name }, status: { ...fields, conditions } };
  await context.client.ensure(
    desired as unknown as BootstrapKubeconfig,
    object,
    { subresource: "status" },
    context.signal,
  );
}
