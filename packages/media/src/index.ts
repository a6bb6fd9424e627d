/** Boot media and images: ISO 9660, config drives, downloads with checksums, and a server for them. */
export { addFiles } from "./add-files.ts";
export { digestAlgorithm, expectedDigest, type ImageChecksum } from "./checksum.ts";
export { type ConfigDriveData, configDrive, configDriveFiles } from "./config-drive.ts";
export { bytesContent, type MediaContent, readAll } from "./content.ts";
export { type Download, type DownloadOptions, httpContent, httpDownload } from "./download.ts";
export { DownloadError, type DownloadProblem } from "./download-error.ts";
export { digestOf, downloadFile, type FileDownload, fetchText } from "./download-file.ts";
export { Fetcher, type FetcherOptions, withoutCredentials } from "./fetcher.ts";
export { buildIso, type IsoOptions } from "./iso9660.ts";
export { MediaServer, type MediaServerOptions } from "./media-server.ts";
export { type NetworkConfig, type NoCloudData, noCloud, noCloudFiles } from "./nocloud.ts";
