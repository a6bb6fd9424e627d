import { UserDataError } from "../errors.ts";
import { isAccountName } from "../parse/users.ts";
import { type Json, numberAt, objectAt, textAt, textsAt } from "./json.ts";
import { quote, type Script, withInput } from "./script.ts";

/** Adds a group of an Ignition config. */
export function addIgnitionGroup(script: Script, group: Json): void {
  const name = nameOf(group);
  const gid = numberAt(group, "gid");
  const options = [
    ...(gid === undefined ? [] : ["--gid", String(gid)]),
    ...(group["system"] === true ? ["--system"] : []),
  ];
  script.step(`group ${name}`, ["capstan_group", quote(name), ...options].join(" "));
}

/** Adds a user of an Ignition config, or changes the one that is there. In version 2 some settings may be in `create`. */
export function addIgnitionUser(script: Script, user: Json): void {
  const name = nameOf(user);
  const account = { ...objectAt(user, "create"), ...user };
  const hash = textAt(user, "passwordHash") ?? "";
  if (/[\n:]/.test(hash)) throw new UserDataError("passwd.users: a password hash has a line end or a colon");
  const keys = textsAt(user, "sshAuthorizedKeys");
  const options = optionsOf(account);
  script.step(
    `user ${name}`,
    `if getent passwd ${quote(name)} > /dev/null; then`,
    options.length === 0 ? ":" : `usermod ${options.map(quote).join(" ")} ${quote(name)}`,
    "else",
    `useradd ${[...creationOptions(account), ...options].map(quote).join(" ")} ${quote(name)}`,
    "fi",
    ...(hash === "" ? [] : [withInput("chpasswd -e", `${name}:${hash}`)]),
    ...(keys.length === 0 ? [] : [withInput(`capstan_keys ${quote(name)}`, keys.join("\n"))]),
  );
}

function nameOf(each: Json): string {
  const { name } = each;
  if (!isAccountName(name)) throw new UserDataError(`passwd: ${JSON.stringify(name ?? "")} is not a name`);
  return name;
}

function optionsOf(account: Json): string[] {
  const groups = textsAt(account, "groups");
  const text = (option: string, key: string): string[] => {
    const value = textAt(account, key) ?? "";
    return value === "" ? [] : [option, value];
  };
  const uid = numberAt(account, "uid");
  return [
    ...(uid === undefined ? [] : ["--uid", String(uid)]),
    ...text("--comment", "gecos"),
    ...text("--gid", "primaryGroup"),
    ...(groups.length === 0 ? [] : ["--groups", groups.join(",")]),
    ...text("--shell", "shell"),
    ...text("--home", "homeDir"),
  ];
}

function creationOptions(account: Json): string[] {
  const flag = (key: string, option: string): string[] => (account[key] === true ? [option] : []);
  return [
    account["noCreateHome"] === true ? "--no-create-home" : "--create-home",
    ...flag("noUserGroup", "--no-user-group"),
    ...flag("noLogInit", "--no-log-init"),
    ...flag("system", "--system"),
  ];
}
