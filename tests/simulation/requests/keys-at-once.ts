import crypto, { type KeyObject } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

type Done = (error: Error | null, publicKey?: KeyObject, privateKey?: KeyObject) => void;

/** Makes key pairs at once, not in another thread, so that no write waits for real time. Returns what restores it. */
export function makeKeysAtOnce(): () => void {
  const { generateKeyPair } = crypto;
  const atOnce = (type: "ec", options: { namedCurve: string }, done: Done): void => {
    const { publicKey, privateKey } = crypto.generateKeyPairSync(type, options);
    setImmediate(() => done(null, publicKey, privateKey));
  };
  Object.assign(crypto, { generateKeyPair: atOnce });
  syncBuiltinESMExports();
  return () => {
    Object.assign(crypto, { generateKeyPair });
    syncBuiltinESMExports();
  };
}
