export type { CommandDefinition, CommandIo } from "./command.ts";
export { commandReference } from "./command-reference.ts";
export { COMMANDS } from "./commands/index.ts";
export type { ApiTarget } from "./context/api-target.ts";
export { demoObjects } from "./demo.ts";
export { GLOBAL_OPTIONS } from "./options.ts";
export { runProgram } from "./program.ts";
