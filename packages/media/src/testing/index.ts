/** What tests read images with. */
export { readIso } from "./iso-reader.ts";
