export * from "./clock.ts";
export * from "./object.ts";
export * from "./random.ts";
export * from "./status.ts";
export * from "./transport.ts";
export * from "./virtual-clock.ts";
