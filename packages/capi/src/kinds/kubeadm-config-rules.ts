import type { AdmissionProblem } from "../schema/kind.ts";
import type { KubeadmConfigSpec } from "./kubeadm-config-spec.ts";

const WITH_IGNITION = 'not supported when spec.format is set to: "ignition"';

/** Rules of upstream's webhooks that a schema cannot express. `path` is the path of the spec in its object. */
export function kubeadmConfigProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  return [
    ...fileProblems(spec, path),
    ...userProblems(spec, path),
    ...ignitionProblems(spec, path),
    ...diskProblems(spec, path),
    ...discoveryProblems(spec, path),
  ];
}

/** Both timeouts must agree, because v1beta1 has one field for them; for KubeadmControlPlane and its template. */
export function controlPlaneTimeoutProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  const of = (timeouts: { controlPlaneComponentHealthCheckSeconds?: number } | undefined): string =>
    String(timeouts?.controlPlaneComponentHealthCheckSeconds ?? "unset");
  const init = of(spec.initConfiguration?.timeouts);
  const join = of(spec.joinConfiguration?.timeouts);
  if (init === join) return [];
  const detail = `controlPlaneComponentHealthCheckSeconds must be set to the same value both in initConfiguration.timeouts (${init}) and in joinConfiguration.timeouts (${join})`;
  return (["init", "join"] as const).map((which) =>
    invalid(
      `${path}.${which}Configuration.timeouts.controlPlaneComponentHealthCheckSeconds`,
      which === "init" ? init : join,
      detail,
    ),
  );
}

function invalid(field: string, value: unknown, detail: string): AdmissionProblem {
  return { type: "FieldValueInvalid", field, value, detail };
}

function forbidden(field: string): AdmissionProblem {
  return { type: "FieldValueForbidden", field, detail: WITH_IGNITION };
}

function fileProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  const seen = new Set<string>();
  return (spec.files ?? []).flatMap((file, index) => {
    const at = `${path}.files[${index}]`;
    const twice = seen.has(file.path);
    seen.add(file.path);
    return [
      ...(file.content !== undefined && file.contentFrom !== undefined
        ? [invalid(at, file, "only one of content or contentFrom may be specified for a single file")]
        : []),
      ...(twice ? [invalid(`${at}.path`, file, "path property must be unique among all files")] : []),
    ];
  });
}

function userProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  return (spec.users ?? []).flatMap((user, index) =>
    user.passwd !== undefined && user.passwdFrom !== undefined
      ? [
          // Without the value: it holds the hash of a password.
          invalid(
            `${path}.users[${index}]`,
            user.name,
            "only one of passwd or passwdFrom may be specified for a single user",
          ),
        ]
      : [],
  );
}

function ignitionProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  if (spec.format !== "ignition")
    return spec.ignition === undefined
      ? []
      : [invalid(`${path}.format`, spec.format ?? "", 'must be set to "ignition" if spec.ignition is set')];
  return [
    ...(spec.users ?? []).flatMap((user, i) =>
      user.inactive === true ? [forbidden(`${path}.users[${i}].inactive`)] : [],
    ),
    ...(spec.files ?? []).flatMap((file, i) =>
      file.encoding === "gzip" || file.encoding === "gzip+base64" ? [forbidden(`${path}.files[${i}].encoding`)] : [],
    ),
    ...(spec.bootCommands === undefined ? [] : [forbidden(`${path}.bootCommands`)]),
    ...(spec.diskSetup?.partitions ?? []).flatMap((partition, i) =>
      partition.tableType === "mbr"
        ? [
            invalid(
              `${path}.diskSetup.partitions[${i}].tableType`,
              partition.tableType,
              'only partition type "gpt" is supported when spec.format is set to "ignition"',
            ),
          ]
        : [],
    ),
    ...(spec.diskSetup?.filesystems ?? []).flatMap((filesystem, i) => [
      ...(filesystem.replaceFS === undefined ? [] : [forbidden(`${path}.diskSetup.filesystems[${i}].replaceFS`)]),
      ...(filesystem.partition === undefined ? [] : [forbidden(`${path}.diskSetup.filesystems[${i}].partition`)]),
    ]),
  ];
}

function diskProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  return (spec.diskSetup?.partitions ?? []).flatMap((partition, index) => {
    const sum = (partition.diskLayout ?? []).reduce((total, { percentage }) => total + percentage, 0);
    const detail = "the sum of all partition percentages must not be greater than 100";
    return sum > 100 ? [invalid(`${path}.diskSetup.partitions[${index}].diskLayout`, sum, detail)] : [];
  });
}

function discoveryProblems(spec: KubeadmConfigSpec, path: string): AdmissionProblem[] {
  const user = spec.joinConfiguration?.discovery?.file?.kubeConfig?.user;
  if (user?.authProvider === undefined || user.exec === undefined) return [];
  return [
    invalid(
      `${path}.joinConfiguration.discovery.file.kubeconfig.user`,
      Object.keys(user),
      "only one of authProvider or exec must be defined",
    ),
  ];
}
