/** Boot media and images: ISO 9660, config drives, downloads with checksums, and a server for them. */
export { addFiles } from "./add-files.ts";
export { type ConfigDriveData, configDrive, configDriveFiles } from "./config-drive.ts";
export { bytesContent, type MediaContent, readAll } from "./content.ts";
export { type Download, type DownloadOptions, httpContent, httpDownload } from "./download.ts";
export { buildIso, type IsoOptions } from "./iso9660.ts";
export { MediaServer, type MediaServerOptions } from "./media-server.ts";
