export type { ApiTarget } from "./api-target.ts";
export type { CommandDefinition, CommandIo } from "./command.ts";
export { commandReference } from "./command-reference.ts";
export { COMMANDS } from "./commands/index.ts";
export { demoObjects } from "./demo.ts";
export { GLOBAL_OPTIONS } from "./options.ts";
export { runProgram } from "./program.ts";
