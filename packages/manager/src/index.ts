export { type Manager, type ManagerOptions, startManager } from "./manager.ts";
