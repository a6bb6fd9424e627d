const NAME = /^[a-z_][a-z0-9_.-]{0,31}\$?$/i;

/** Options of useradd that take a value, by the key of cloud-config. */
const VALUES: readonly (readonly [string, string])[] = [
  ["gecos", "--comment"],
  ["homedir", "--home-dir"],
  ["shell", "--shell"],
  ["primary_group", "--gid"],
  ["uid", "--uid"],
  ["expiredate", "--expiredate"],
];
const FLAGS: readonly (readonly [string, string])[] = [
  ["system", "--system"],
  ["no_user_group", "--no-user-group"],
  ["no_log_init", "--no-log-init"],
];
const KNOWN = new Set([
  ...[...VALUES, ...FLAGS].map(([key]) => key),
  "name",
  "passwd",
  "hashed_passwd",
  "groups",
  "inactive",
  "lock_passwd",
  "no_create_home",
  "sudo",
  "ssh_authorized_keys",
]);

/** Lists the settings of users that are not supported, as paths of the cloud-config. */
export function unsupportedInUsers(users: readonly Record<string, unknown>[]): string[] {
  return users.flatMap((user, index) =>
    user["name"] === "default" || !isAccountName(user["name"])
      ? [`users[${index}].name ${JSON.stringify(user["name"] ?? "")}`]
      : Object.keys(user)
          .filter((key) => !KNOWN.has(key))
          .map((key) => `users[${index}].${key}`),
  );
}

/** Whether this can be the name of a user or group. */
export function isAccountName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}

/** Returns the arguments with which useradd creates a user of a cloud-config, without the name. */
export function useraddArguments(user: Record<string, unknown>): string[] {
  const groups = groupsOfUser(user);
  const given = VALUES.flatMap(([key, option]) => {
    const value = user[key];
    return typeof value === "string" || typeof value === "number" ? [option, String(value)] : [];
  });
  return [
    user["no_create_home"] === true || user["system"] === true ? "--no-create-home" : "--create-home",
    ...given,
    ...FLAGS.flatMap(([key, option]) => (user[key] === true ? [option] : [])),
    ...(groups.length === 0 ? [] : ["--groups", groups.join(",")]),
    ...(user["inactive"] === true || user["inactive"] === "true" ? ["--inactive", "0"] : []),
  ];
}

/** The supplementary groups of a user: a list, or names separated by commas. */
export function groupsOfUser(user: Record<string, unknown>): string[] {
  const { groups } = user;
  const names = Array.isArray(groups) ? groups.map(String) : typeof groups === "string" ? groups.split(",") : [];
  return names.map((name) => name.trim()).filter(Boolean);
}

/** The sudo rules of a user: one text, or a list of them. */
export function sudoRulesOf(user: Record<string, unknown>): string[] {
  return [user["sudo"]].flat().filter((rule): rule is string => typeof rule === "string" && rule !== "");
}

/** The SSH keys of a user. */
export function sshKeysOf(user: Record<string, unknown>): string[] {
  const keys = user["ssh_authorized_keys"];
  return Array.isArray(keys) ? keys.filter((key): key is string => typeof key === "string") : [];
}
