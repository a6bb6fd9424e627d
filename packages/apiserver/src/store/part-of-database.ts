import type { RangeOptions } from "lmdb";
import type { Records } from "./lmdb-database.ts";

/** The records of `database` whose keys start with `prefix`, as if there were no others. All prefixes of a database have one length. */
export function partOfDatabase(database: Records, prefix: Buffer): Records {
  const inside = (key: Buffer): Buffer => Buffer.concat([prefix, key]);
  const after = endOf(prefix);
  const range = ({ start, end, ...options }: RangeOptions): RangeOptions => {
    const [low, high] = options.reverse === true ? [end, start] : [start, end];
    const from = low === undefined ? prefix : inside(low as Buffer);
    const to = high === undefined ? after : inside(high as Buffer);
    return options.reverse === true ? { ...options, start: to, end: from } : { ...options, start: from, end: to };
  };
  return {
    getBinary: (key) => database.getBinary(inside(key as Buffer)),
    put: ((key: Buffer, value: Buffer) => database.put(inside(key), value)) as Records["put"],
    remove: ((key: Buffer) => database.remove(inside(key))) as Records["remove"],
    transaction: (action) => database.transaction(action),
    *getKeys(options) {
      for (const key of database.getKeys(range(options))) yield key.subarray(prefix.length);
    },
    *getRange(options) {
      for (const { key, value } of database.getRange(range(options))) yield { key: key.subarray(prefix.length), value };
    },
  };
}

/** The first key after all that start with `prefix`; its last byte is never the highest. */
function endOf(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
  return end;
}
