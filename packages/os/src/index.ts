export { type AtomicFileOptions, syncDirectory, writeFileAtomic, writeFileAtomicSync } from "./atomic-file.ts";
export { foldersOf, type Hierarchy, parseHierarchies } from "./cgroups.ts";
export { appendFileDurableSync, copyDurable } from "./durable-copy.ts";
export {
  bootId,
  isRunning,
  type ProcessIdentity,
  processGroup,
  processIdentity,
  signalGroup,
  signalProcess,
} from "./process-identity.ts";
export { giveAll, reclaim, removeReclaimed } from "./reclaim.ts";
