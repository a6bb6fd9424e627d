/** What tests serve files from and read images with. */
export { FileServer, sha256 } from "./file-server.ts";
export { readIso } from "./iso-reader.ts";
