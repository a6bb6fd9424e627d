import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  isDns1123Label,
  isDns1123Subdomain,
  isObject,
  notSupported,
  required,
} from "@capstan/apimachinery";
import { at, text } from "../read.ts";

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** What is wrong with the volumes of a PodSpec, and their names. */
export function volumeErrors(volumes: readonly unknown[], path: string): { errors: FieldError[]; names: Set<string> } {
  const names = new Set<string>();
  const errors = volumes.flatMap((volume, i) => {
    const here = `${path}[${i}]`;
    const found = sourceErrors(volume, here, new Set(["name"]));
    if (found.length === 0 && !hasSource(volume)) found.push(required(here, "must specify a volume type"));
    const name = text(at(volume, "name"));
    if (name === "") found.push(required(`${here}.name`));
    else found.push(...isDns1123Label(name).map((m) => invalidValue(`${here}.name`, name, m)));
    if (name !== "" && names.has(name)) found.push(duplicate(`${here}.name`, name));
    if (found.length === 0) names.add(name);
    return found;
  });
  return { errors, names };
}

function hasSource(volume: unknown): boolean {
  return isObject(volume) && Object.keys(volume).some((key) => key !== "name");
}

/** What is wrong with the source of a volume: of several only the first is looked at, the others are too many. */
export function sourceErrors(volume: unknown, path: string, others: ReadonlySet<string>): FieldError[] {
  if (!isObject(volume)) return [];
  const [first, ...more] = Object.keys(SOURCES)
    .filter((key) => volume[key] !== undefined)
    .concat(Object.keys(volume).filter((key) => !(key in SOURCES) && !others.has(key)));
  if (first === undefined) return [];
  const needed = SOURCES[first];
  return [
    ...(needed === undefined ? [] : needed(volume[first], `${path}.${first}`)),
    ...more.map((key) => forbiddenField(`${path}.${key}`, "may not specify more than 1 volume type")),
  ];
}

type Check = (source: unknown, path: string) => FieldError[];

const needs =
  (...fields: readonly string[]): Check =>
  (source, path) =>
    fields.filter((field) => text(at(source, field)) === "").map((field) => required(`${path}.${field}`));

/** In the order of the real server, which decides which of two is one too many. */
const SOURCES: Readonly<Record<string, Check | undefined>> = {
  emptyDir: undefined,
  hostPath: (source, path) => {
    const errors = needs("path")(source, path);
    if (errors.length > 0) return errors;
    const type = text(at(source, "type"));
    return [
      ...pathErrors(text(at(source, "path")), `${path}.path`),
      ...(HOST_PATH_TYPES.includes(type) ? [] : [notSupported(`${path}.type`, type, HOST_PATH_TYPES)]),
    ];
  },
  secret: needs("secretName"),
  nfs: (source, path) => {
    const where = text(at(source, "path"));
    const errors = needs("server", "path")(source, path);
    if (where !== "" && !where.startsWith("/"))
      errors.push(invalidValue(`${path}.path`, where, "must be an absolute path"));
    return errors;
  },
  persistentVolumeClaim: needs("claimName"),
  configMap: needs("name"),
  local: (source, path) => {
    const errors = needs("path")(source, path);
    return errors.length > 0 ? errors : pathErrors(text(at(source, "path")), `${path}.path`);
  },
  csi: (source, path) => {
    // A volume of a pod has no handle: its driver makes one.
    const inPod = path.includes(".volumes[");
    const driver = text(at(source, "driver"));
    const malformed = driver === "" ? [] : isDns1123Subdomain(driver.toLowerCase());
    return [
      ...needs("driver")(source, path),
      ...malformed.map((m) => invalidValue(`${path}.driver`, driver, m)),
      ...(inPod ? [] : needs("volumeHandle")(source, path)),
    ];
  },
};

function pathErrors(path: string, field: string): FieldError[] {
  return path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : [];
}
