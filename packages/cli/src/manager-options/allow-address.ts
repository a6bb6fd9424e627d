import { type AddressRange, parseAddressRange } from "@capstan/apimachinery/foreign";
import { type CommandInput, type OptionDefinition, usageError } from "../command.ts";

/** The repeatable --allow-address flag: loopback, link-local or own addresses that objects may make the manager dial. */
export const ALLOW_ADDRESS_OPTION: OptionDefinition = {
  flags: "--allow-address <range>",
  summary:
    "Connect to these loopback, link-local or own addresses when an object names them, as CIDR[:PORT] (repeatable)",
  repeatable: true,
};

/** Parses the ranges given with --allow-address. */
export function allowAddresses({ lists }: Pick<CommandInput, "lists">): AddressRange[] {
  return (lists["allowAddress"] ?? []).map((text) => {
    const range = parseAddressRange(text);
    if (range === undefined)
      throw usageError(
        `--allow-address ${text} is not a range of addresses`,
        "write 127.0.0.0/8, 192.0.2.5/32:9000 or [fd00::/8]:443",
      );
    return range;
  });
}
