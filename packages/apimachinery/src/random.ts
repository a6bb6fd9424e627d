import { randomBytes } from "node:crypto";

/** Chance is passed in everywhere (docs/architecture.md, rule 6). */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Uint8Array;
}

const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let used = 0;

/** Small draws come from a buffer filled in one go, each byte handed out once: a system call per uuid would show in every write. */
function pooledBytes(n: number): Uint8Array {
  if (n > POOL_BYTES / 4) return randomBytes(n);
  if (used + n > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  const drawn = Uint8Array.prototype.slice.call(pool, used, used + n);
  pool.fill(0, used, used + n);
  used += n;
  return drawn;
}

/** Cryptographic randomness: the one place in library code that draws it. */
export const systemRandom: Random = { bytes: pooledBytes };

/** A deterministic source (splitmix64 stream) for tests and simulation. Never for secrets. */
export function seededRandom(seed: number): Random {
  let state = BigInt(seed) & 0xffffffffffffffffn;
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
    return z ^ (z >> 31n);
  };
  return {
    bytes(n) {
      const out = new Uint8Array(n);
      for (let i = 0; i < n; i += 8) {
        let word = next();
        for (let j = i; j < Math.min(i + 8, n); j++) {
          out[j] = Number(word & 0xffn);
          word >>= 8n;
        }
      }
      return out;
    },
  };
}

/** A number in [0, 1). */
export function randomFloat(random: Random): number {
  const b = random.bytes(4);
  return new DataView(b.buffer, b.byteOffset, 4).getUint32(0) / 0x1_0000_0000;
}

/** An integer in [0, below). */
export function randomInt(random: Random, below: number): number {
  return Math.floor(randomFloat(random) * below);
}

/** A version 4 UUID. */
export function randomUuid(random: Random): string {
  const b = random.bytes(16);
  b[6] = ((b[6] ?? 0) & 0x0f) | 0x40;
  b[8] = ((b[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(b).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

// Kubernetes leaves out vowels and look-alikes so that no word appears by chance.
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A suffix such as generateName appends. */
export function randomSuffix(random: Random, length = 5): string {
  let out = "";
  for (let i = 0; i < length; i++) out += SUFFIX_ALPHABET[randomInt(random, SUFFIX_ALPHABET.length)];
  return out;
}
