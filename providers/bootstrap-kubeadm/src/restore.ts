import { type KubeadmConfig, RESTORE_ANNOTATION, Secret, secretText } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { fail } from "./progress.ts";

const SCRIPT = "/run/capstan/restore-etcd.sh";
const RETRY_MS = 10_000;
const AFTER = "/run/capstan/after-restore.sh";

const script = (path: string, content: string) => ({ path, owner: "root:root", permissions: "0700", content });

/** The config of a Machine that recovers a control plane, with the script that restores etcd; undefined for any other. */
export async function withRestore(
  config: KubeadmConfig,
  context: ReconcileContext,
): Promise<KubeadmConfig | undefined> {
  const name = config.metadata.annotations?.[RESTORE_ANNOTATION];
  if (name === undefined) return undefined;
  const { namespace } = config.metadata;
  const secret = await context.client.get(Secret, { namespace, name });
  const [content, after] = [secretText(secret, "script"), secretText(secret, "after")];
  if (content === undefined || after === undefined)
    // The recovery writes it before the config, so that nothing watches it.
    fail(
      `Secret ${name} with the scripts that restore etcd does not exist (annotation ${RESTORE_ANNOTATION})`,
      RETRY_MS,
    );
  const spec = config.spec ?? {};
  const registration = spec.initConfiguration?.nodeRegistration;
  // kubeadm refuses to start etcd on data, and the script has just written it.
  const dataDir = spec.clusterConfiguration?.etcd?.local?.dataDir ?? "/var/lib/etcd";
  const check = `DirAvailable-${dataDir.replaceAll("/", "-")}`;
  const ignorePreflightErrors = [...new Set([...(registration?.ignorePreflightErrors ?? []), check])];
  return {
    ...config,
    spec: {
      ...spec,
      files: [...(spec.files ?? []), script(SCRIPT, content), script(AFTER, after)],
      preKubeadmCommands: [...(spec.preKubeadmCommands ?? []), SCRIPT],
      postKubeadmCommands: [AFTER, ...(spec.postKubeadmCommands ?? [])],
      initConfiguration: {
        ...spec.initConfiguration,
        nodeRegistration: { ...registration, ignorePreflightErrors },
      },
    },
  };
}
