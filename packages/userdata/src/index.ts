export type { CompileOptions } from "./compile/cloud-config.ts";
export { compileScript } from "./compile/compile.ts";
export { UserDataError } from "./errors.ts";
export {
  type CloudConfig,
  type CloudConfigCommand,
  type CloudConfigFile,
  type ParseOptions,
  parseCloudConfig,
  readCloudConfig,
} from "./parse/cloud-config.ts";
export { renderJinja } from "./parse/jinja.ts";
export { missingVariable } from "./parse/missing-variable.ts";
export { sshKeysOf, sudoRulesOf, unsupportedInUsers, useraddArguments } from "./parse/users.ts";
export { renderCloudConfig } from "./render/cloud-config.ts";
export { type IgnitionOptions, renderIgnition } from "./render/ignition.ts";
export { checkTimeServers, TIME_SERVICES, type TimeService } from "./time-services.ts";
export type {
  FileEncoding,
  KubeadmStep,
  UserData,
  UserDataFile,
  UserDataFilesystem,
  UserDataPartition,
  UserDataUser,
} from "./types.ts";
