/**
 * The flags that Go source registers as `fs.KIND(..., "name", ..., "what it is")`, with what it says of them.
 * @param {string} source
 * @returns {Record<string, { usage: string }>}
 */
export function flagsInSource(source) {
  /** @type {Record<string, { usage: string }>} */
  const flags = {};
  for (const { index, 0: start } of source.matchAll(/\bfs\.[A-Z]\w*\(/g)) {
    const literals = literalsOfCall(source, index + start.length);
    // Defaults are made by calls within the call.
    const at = literals.findIndex(({ depth, text }) => depth === 1 && /^[a-z][a-z0-9-]*$/.test(text));
    const words = literals.slice(at + 1).map(({ text }) => text.trim());
    if (at >= 0) flags[literals[at]?.text ?? ""] = { usage: words.join(" ").trim() };
  }
  return flags;
}

/**
 * String literals up to the parenthesis that closes a call, with their depth of parentheses.
 * @param {string} source
 * @param {number} from
 */
function literalsOfCall(source, from) {
  const found = [];
  let depth = 1;
  const tokens = /"((?:[^"\\]|\\.)*)"|`([^`]*)`|[()]/g;
  tokens.lastIndex = from;
  for (let token = tokens.exec(source); token !== null; token = tokens.exec(source)) {
    if (token[0] === "(") depth++;
    else if (token[0] === ")") depth--;
    else found.push({ depth, text: token[1] ?? token[2] ?? "" });
    if (depth === 0) break;
  }
  return found;
}
