/** The exit code of QEMU when the sector has run: isa-debug-exit turns a byte `b` into `2b + 1`. */
export const RAN_EXIT_CODE = (0x10 << 1) | 1;
/** Where the sector writes its byte. */
export const DEBUG_EXIT_PORT = 0xf4;

const LOOPS = 2 ** 27;

/**
 * A boot sector that computes for some tenths of a second and then ends its machine: a processor that only pretends to run code does not
 * reach the end in time. 16-bit code: `cli; mov ecx,LOOPS; l: dec ecx; jnz l; mov al,0x10; out 0xf4,al; hlt`.
 */
export function probeSector(): Uint8Array {
  const loops = [0, 8, 16, 24].map((shift) => (LOOPS >>> shift) & 0xff);
  const code = [0xfa, 0x66, 0xb9, ...loops, 0x66, 0x49, 0x75, 0xfc, 0xb0, 0x10, 0xe6, DEBUG_EXIT_PORT, 0xf4];
  const sector = new Uint8Array(512);
  sector.set(code);
  // The firmware boots only what is marked so.
  sector.set([0x55, 0xaa], 510);
  return sector;
}
