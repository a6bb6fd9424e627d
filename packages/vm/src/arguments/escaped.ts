/** A value inside one of QEMU's lists of options, where a comma ends a value and two commas are one. */
export function escaped(value: string): string {
  return value.replaceAll(",", ",,");
}
