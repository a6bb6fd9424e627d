export { requestBackup } from "./control-socket.ts";
export { type InstanceRecord, readInstance } from "./instance.ts";
export { installKubernetes, listKubernetes, removeKubernetes } from "./kubernetes/install.ts";
export { type Manager, type ManagerOptions, startManager } from "./manager.ts";
export { restoreStandalone } from "./restore.ts";
export { AlreadyRunningError, type Standalone, type StandaloneOptions, startStandalone } from "./standalone.ts";
