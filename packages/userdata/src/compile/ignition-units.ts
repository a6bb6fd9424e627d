import { UserDataError } from "../errors.ts";
import { type Json, objectsAt, textAt } from "./json.ts";
import { quote, type Script } from "./script.ts";

const FOLDER = "/etc/systemd/system";
const ROOT = "root:root";

/** Adds the units of an Ignition config. systemd is running already, so what is enabled is started too, in the order of the config. */
export function addUnits(script: Script, units: readonly Json[]): void {
  if (units.length === 0) return;
  for (const unit of units) addUnit(script, unit);
  const named = (holds: (unit: Json) => boolean): string[] => units.filter(holds).map(nameOf);
  const enabled = named((unit) => unit["enabled"] === true || unit["enable"] === true);
  const disabled = named((unit) => unit["enabled"] === false);
  script.step("systemd units", "if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi");
  for (const name of disabled) script.step(`disable ${name}`, `systemctl disable ${quote(name)}`);
  for (const name of enabled) script.step(`enable ${name}`, `systemctl enable ${quote(name)}`);
  for (const name of enabled) script.step(`start ${name}`, `capstan_start ${quote(name)}`);
}

function addUnit(script: Script, unit: Json): void {
  const name = nameOf(unit);
  const write = (path: string, contents: string): void => {
    script.file({ path, content: Buffer.from(contents), mode: "0644", owner: ROOT });
  };
  const contents = textAt(unit, "contents") ?? "";
  if (unit["mask"] === true) script.step(`mask ${name}`, `ln -sfn /dev/null ${quote(`${FOLDER}/${name}`)}`);
  else if (contents !== "") write(`${FOLDER}/${name}`, contents);
  for (const dropin of objectsAt(unit, "dropins")) {
    const text = textAt(dropin, "contents") ?? "";
    if (text !== "") write(`${FOLDER}/${name}.d/${nameOf(dropin)}`, text);
  }
}

function nameOf(unit: Json): string {
  const name = textAt(unit, "name") ?? "";
  if (!/^[\w:@.\\-]+$/.test(name) || name.startsWith("-") || /^\.+$/.test(name))
    throw new UserDataError(`systemd.units: ${JSON.stringify(name)} is not the name of a unit`);
  return name;
}
