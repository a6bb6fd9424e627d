import { failed, type MachineScope, type Outcome } from "@capstan/capi";
import { HostSecret } from "@capstan/workloads";
import type { Backend, Place } from "../backend.ts";
import type { KubernetesCluster } from "../kinds/kubernetes-cluster.ts";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { bootstrapName, type Key, ownerOf, ownMetadata, providerIdOf, scriptsName } from "../names.ts";
import { nodeScripts } from "../node/scripts.ts";

/** Turns user data into a bash script; `problems` names what it cannot do. */
export type CompileScript = (
  data: { readonly format: "cloud-config" | "ignition"; readonly content: string },
  options: { readonly hostname: string; readonly instanceData: Record<string, unknown> },
) => { script: string } | { problems: string[] };

type Scope = MachineScope<KubernetesMachine, Backend, KubernetesCluster>;

/** Writes the Secrets that a pod is about to start with. Returns why that is not possible. */
export async function ensureScripts(
  { machine, backend, bootstrap }: Scope,
  { host, signal }: Place,
  key: Key,
  timeoutSeconds: number,
): Promise<Outcome | undefined> {
  const { format, bytes } = await bootstrap.data();
  const compiled = backend.options.compile(
    { format, content: Buffer.from(bytes).toString("utf8") },
    {
      hostname: key.name,
      instanceData: {
        instance_id: `${key.namespace}-${key.name}`,
        provider_id: providerIdOf(key),
        ...(machine.spec.failureDomain === undefined ? {} : { failure_domain: machine.spec.failureDomain }),
      },
    },
  );
  if ("problems" in compiled)
    return failed(
      "BootstrapDataNotSupported",
      `The bootstrap data needs what a pod cannot do: ${compiled.problems.join("; ")}`,
      "Change the KubeadmConfig or its template; existing Machines keep theirs and must be replaced",
    );
  await host.ensure(HostSecret, secretOf(key, scriptsName(key.name), nodeScripts(timeoutSeconds)), signal);
  await host.ensure(HostSecret, secretOf(key, bootstrapName(key.name), { bootstrap: compiled.script }), signal);
  return undefined;
}

/** Deletes the bootstrap script, which holds tokens and keys, once it has run. */
export async function dropBootstrap({ host, signal }: Place, key: Key): Promise<void> {
  const own = host.of(HostSecret, ownerOf("kubernetesmachine", key));
  const secret = own.find(({ metadata }) => metadata.name === bootstrapName(key.name));
  if (secret !== undefined && secret.metadata.deletionTimestamp === undefined)
    await host.client.delete(secret, {}, signal);
}

function secretOf(key: Key, name: string, files: Record<string, string>): HostSecret {
  const entries = Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString("base64")] as const);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: ownMetadata(ownerOf("kubernetesmachine", key), name),
    type: "Opaque",
    data: Object.fromEntries(entries),
  };
}
