export { partialObject, partialObjectList } from "./partial-object.ts";
export { type TableOptions, tableFor } from "./table.ts";
