/** Stores of backups, their signatures, and schedules. */
export { type Backup, type BackupStore, backupName, backupTimeMs } from "./backup-store.ts";
export { type CronSchedule, nextTime, parseCron } from "./cron.ts";
export { DirectoryStore } from "./directory-store.ts";
export { type BackupPlan, type BackupPlanInput, expiredBackups, planBackup } from "./plan.ts";
export { type S3Options, S3Store, s3Location } from "./s3-store.ts";
