import { ownerReference } from "@capstan/apimachinery";
import type { RestoreSource } from "../backup/restore.ts";
import { ENCRYPTION_FILE } from "../components/settings.ts";
import { type EncryptionKey, encryptionConfiguration, ensureEncryptionKey } from "../encryption.ts";
import type { ControlPlanePlan } from "../placement/placement.ts";
import { clusterKeyOf, type OwnedScope } from "../scope.ts";
import { readUserFiles } from "../user-files.ts";
import type { Outcome } from "./outcome.ts";
import { refuse } from "./refuse.ts";

/** The files that components read, and the key for encryption at rest if it is or was enabled. */
export interface ComponentInputs {
  userFiles: ControlPlanePlan["userFiles"];
  encryption: EncryptionKey | undefined;
}

/** Reads the files of the spec from their Secrets, and adds the configuration of encryption at rest. */
export async function collectFiles(
  scope: OwnedScope,
  source: RestoreSource | undefined,
): Promise<ComponentInputs | Outcome> {
  const { object, type, context } = scope;
  const read = await readUserFiles(object, type, context);
  if ("problem" in read) return await refuse(scope, { reason: "FilesNotAvailable", message: read.problem });
  const spec = object.spec.apiServer?.encryption;
  const known = source?.description.encryption;
  const encryption = await ensureEncryptionKey(
    {
      cluster: clusterKeyOf(scope),
      owner: ownerReference(object, { controller: true }),
      spec,
      known,
    },
    context,
  );
  const { files } = read;
  if (encryption === undefined) return { userFiles: files, encryption };
  const apiServer = { ...files.apiServer, [ENCRYPTION_FILE]: encryptionConfiguration(encryption, spec) };
  return { userFiles: { ...files, apiServer }, encryption };
}
