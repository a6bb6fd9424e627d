import { ForeignDocumentError } from "./bounded.ts";

/** Reading less never takes long, whatever it holds. */
const UNCHECKED_CHARACTERS = 32 * 1024;
/** A page of 200 Nodes has some 120,000. */
const MAX_VALUES = 500_000;
/** The costliest part: each key that was not seen before takes some microseconds. */
const MAX_KEYS = 20_000;
const MAX_LEVELS = 500;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_MAP = 123;
const CLOSE_MAP = 125;

/**
 * Parses untrusted JSON. How long V8 takes depends on the number of values and of different keys far more than on the
 * length, so that both are counted first. Errors never quote the text: it would show in a condition to whoever chose the server.
 */
export function parseForeignJson(text: string, what: string): unknown {
  if (text.length > UNCHECKED_CHARACTERS) checkCost(text, what);
  try {
    return JSON.parse(text);
  } catch {
    throw new ForeignDocumentError(`${what}: the answer is not valid JSON`);
  }
}

function checkCost(text: string, what: string): void {
  const keys = new Set<number>();
  let values = 0;
  let level = 0;
  let hash = 0;
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inside) {
      if (code === QUOTE) inside = false;
      else if (code === BACKSLASH) hash = (Math.imul(hash, 31) + text.charCodeAt(++i)) | 0;
      else hash = (Math.imul(hash, 31) + code) | 0;
      continue;
    }
    switch (code) {
      case QUOTE:
        inside = true;
        hash = 0;
        break;
      case COLON:
        keys.add(hash);
        if (keys.size > MAX_KEYS) throw tooCostly(what, `more than ${MAX_KEYS} different keys`);
        break;
      case COMMA:
        values++;
        break;
      case OPEN_LIST:
      case OPEN_MAP:
        values++;
        level++;
        if (level > MAX_LEVELS) throw tooCostly(what, `more than ${MAX_LEVELS} levels`);
        break;
      case CLOSE_LIST:
      case CLOSE_MAP:
        level--;
        break;
    }
    if (values > MAX_VALUES) throw tooCostly(what, `more than ${MAX_VALUES} values`);
  }
}

function tooCostly(what: string, why: string): ForeignDocumentError {
  return new ForeignDocumentError(`${what}: the answer has ${why}`);
}
