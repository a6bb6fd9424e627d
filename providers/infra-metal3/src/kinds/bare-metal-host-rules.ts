import { deepEqual, isObject } from "@capstan/apimachinery";
import type { AdmissionProblem, KindObject } from "@capstan/capi";
import { type BmcAddress, parseBmcAddress } from "../provisioner/bmc-address.ts";
import type { BareMetalHostSpec } from "./bare-metal-host-spec.ts";
import type { BareMetalHostStatus } from "./bare-metal-host-status.ts";

type Host = KindObject<{ spec: BareMetalHostSpec; status?: BareMetalHostStatus }>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Validates a BareMetalHost beyond its schema, with upstream's rules. An update that changes neither spec nor annotations is accepted. */
export function hostProblems(host: Host, old: Host | undefined): AdmissionProblem[] {
  const annotations = host.metadata.annotations ?? {};
  if (old !== undefined && deepEqual(host.spec, old.spec) && deepEqual(annotations, old.metadata.annotations ?? {}))
    return [];
  const { address, problems } = bmcProblems(host.spec);
  return [
    ...problems,
    ...nameProblems(host),
    ...(address === undefined ? [] : driverProblems(host.spec, address)),
    ...specProblems(host),
    ...raidProblems(host.spec),
    ...annotationProblems(annotations),
    ...(old === undefined ? [] : changeProblems(host, old)),
  ];
}

function invalid(field: string, value: unknown, detail: string): AdmissionProblem {
  return { type: "FieldValueInvalid", field, value, detail };
}

function forbidden(field: string, detail: string): AdmissionProblem {
  return { type: "FieldValueForbidden", field, detail };
}

function nameProblems({ metadata }: Host): AdmissionProblem[] {
  return UUID.test(metadata.name ?? "")
    ? [
        invalid(
          "metadata.name",
          metadata.name,
          "a UUID cannot be the name of a host: drivers would take it for their own",
        ),
      ]
    : [];
}

function bmcProblems({ bmc }: BareMetalHostSpec): { address?: BmcAddress; problems: AdmissionProblem[] } {
  if (bmc === undefined || bmc.address === "") return { problems: [] };
  try {
    return { address: parseBmcAddress(bmc.address), problems: [] };
  } catch (error) {
    return {
      problems: [invalid("spec.bmc.address", bmc.address, error instanceof Error ? error.message : String(error))],
    };
  }
}

function driverProblems(spec: BareMetalHostSpec, address: BmcAddress): AdmissionProblem[] {
  const problems: AdmissionProblem[] = [];
  if (address.needsBootMac && spec.bootMACAddress === undefined)
    problems.push({
      type: "FieldValueRequired",
      field: "spec.bootMACAddress",
      detail: `${address.scheme}:// needs it`,
    });
  if (spec.bootMode === "UEFISecureBoot" && !address.secureBoot)
    problems.push(forbidden("spec.bootMode", `${address.scheme}:// cannot do secure boot`));
  if (spec.inspectionMode === "fast" && address.driver === "other")
    problems.push(forbidden("spec.inspectionMode", `${address.scheme}:// cannot inspect without an agent`));
  return problems;
}

function specProblems({ spec }: Host): AdmissionProblem[] {
  const problems: AdmissionProblem[] = [];
  if (spec.disablePowerOff === true && !spec.online)
    problems.push(invalid("spec.online", false, "must be true while disablePowerOff is set"));
  if (spec.firmware !== undefined)
    problems.push(forbidden("spec.firmware", "is no longer supported: use HostFirmwareSettings"));
  const url = spec.image?.url;
  if (url !== undefined && url !== "" && !URL.canParse(url)) problems.push(invalid("spec.image.url", url, "is no URL"));
  spec.networkInterfaces?.forEach((entry, index) => {
    if (entry.name === undefined && entry.macAddress === undefined)
      problems.push({
        type: "FieldValueRequired",
        field: `spec.networkInterfaces[${index}]`,
        detail: "give name or macAddress",
      });
  });
  return problems;
}

function raidProblems({ raid }: BareMetalHostSpec): AdmissionProblem[] {
  const { hardwareRAIDVolumes: hardware = [], softwareRAIDVolumes: software = [] } = raid ?? {};
  const problems: AdmissionProblem[] = [];
  if (hardware.length > 0 && software.length > 0)
    problems.push(forbidden("spec.raid", "give hardwareRAIDVolumes or softwareRAIDVolumes, not both"));
  hardware.forEach((volume, index) => {
    const { physicalDisks, numberOfPhysicalDisks, controller } = volume;
    const field = `spec.raid.hardwareRAIDVolumes[${index}]`;
    if (
      physicalDisks !== undefined &&
      numberOfPhysicalDisks !== undefined &&
      physicalDisks.length !== numberOfPhysicalDisks
    )
      problems.push(
        invalid(`${field}.numberOfPhysicalDisks`, numberOfPhysicalDisks, "must be the number of physicalDisks"),
      );
    if (physicalDisks !== undefined && controller === undefined)
      problems.push({
        type: "FieldValueRequired",
        field: `${field}.controller`,
        detail: "is needed with physicalDisks",
      });
  });
  const [first] = software;
  if (first !== undefined && first.level !== "1")
    problems.push(invalid("spec.raid.softwareRAIDVolumes[0].level", first.level, "the first volume must be RAID 1"));
  return problems;
}

/** Annotations whose values are JSON objects, or empty. */
const JSON_ANNOTATIONS =
  /^(reboot\.metal3\.io(\/.*)?|baremetalhost\.metal3\.io\/(detached|status)|inspect\.metal3\.io\/hardwaredetails)$/;

function annotationProblems(annotations: Readonly<Record<string, string>>): AdmissionProblem[] {
  return Object.entries(annotations).flatMap(([key, value]): AdmissionProblem[] => {
    const field = `metadata.annotations[${key}]`;
    if (key === "inspect.metal3.io" && value !== "" && value !== "disabled")
      return [{ type: "FieldValueNotSupported", field, value, detail: "must be empty or disabled" }];
    if (!JSON_ANNOTATIONS.test(key) || value === "") return [];
    const json = jsonOf(value);
    if (json === undefined) return [invalid(field, value, "must be empty or a JSON object")];
    if (
      key.startsWith("reboot.metal3.io") &&
      json["mode"] !== undefined &&
      json["mode"] !== "hard" &&
      json["mode"] !== "soft"
    )
      return [invalid(field, value, "mode must be hard or soft")];
    if (
      key.endsWith("/detached") &&
      json["deleteAction"] !== undefined &&
      json["deleteAction"] !== "delay" &&
      json["deleteAction"] !== "delete"
    )
      return [invalid(field, value, "deleteAction must be delay or delete")];
    return [];
  });
}

function changeProblems(host: Host, old: Host): AdmissionProblem[] {
  const problems: AdmissionProblem[] = [];
  const state = old.status?.provisioning?.state ?? "";
  const free = ["", "unmanaged", "registering"].includes(state) || old.status?.operationalStatus === "detached";
  const before = old.spec.bmc?.address ?? "";
  if (before !== "" && before !== host.spec.bmc?.address && !free)
    problems.push(
      forbidden(
        "spec.bmc.address",
        `cannot change while the host is ${state}: detach it first (annotation baremetalhost.metal3.io/detached)`,
      ),
    );
  const mac = old.spec.bootMACAddress;
  if (mac !== undefined && mac.toLowerCase() !== host.spec.bootMACAddress?.toLowerCase())
    problems.push(forbidden("spec.bootMACAddress", "cannot change once it is set"));
  const adopted = host.spec.externallyProvisioned === true && old.spec.externallyProvisioned !== true;
  if (adopted && !["", "unmanaged", "registering", "available", "ready"].includes(state))
    problems.push(
      forbidden("spec.externallyProvisioned", `can be set while the host is available, not while it is ${state}`),
    );
  return problems;
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
