export * from "./clock.ts";
export * from "./object.ts";
export * from "./random.ts";
export type { JSONSchemaProps, JsonValue, ValidationRule } from "./schema/types.ts";
export * from "./status.ts";
export * from "./transport.ts";
export * from "./virtual-clock.ts";
