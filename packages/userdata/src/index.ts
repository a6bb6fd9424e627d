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
export { renderCloudConfig } from "./render/cloud-config.ts";
export { type IgnitionOptions, renderIgnition } from "./render/ignition.ts";
export type {
  FileEncoding,
  KubeadmStep,
  UserData,
  UserDataFile,
  UserDataFilesystem,
  UserDataPartition,
  UserDataUser,
} from "./types.ts";
