/**
 * What is changed in a program: each entry takes a node of the syntax tree and says by what its text, or a part of it, is replaced.
 *
 * @typedef {{ type: string; start: number; end: number } & Record<string, any>} Node
 *
 * @typedef {object} Place Where a node stands.
 * @property {(node: Node) => string} text The text of a node.
 * @property {Node} parent
 * @property {string} key The property of the parent that holds the node.
 *
 * @typedef {object} Change
 * @property {"expression" | "statement" | "body" | "block"} how An expression is replaced, a statement left out, a body of a function or a
 *   block of statements emptied.
 * @property {Node} node
 * @property {string} replacement The text of the new expression; empty for the others.
 * @property {string} what A short description for the list of survivors.
 */

const COMPARISONS = new Map([
  ["<", ["<=", ">="]],
  ["<=", ["<", ">"]],
  [">", [">=", "<="]],
  [">=", [">", "<"]],
]);
const OPERATORS = new Map([
  ...COMPARISONS,
  ["===", ["!=="]],
  ["!==", ["==="]],
  ["+", ["-"]],
  ["-", ["+"]],
  ["*", ["/"]],
  ["/", ["*"]],
  ["%", ["*"]],
  ["**", ["*"]],
  ["&", ["|"]],
  ["|", ["&"]],
  ["^", ["&"]],
  ["<<", [">>"]],
  [">>", ["<<"]],
  [">>>", ["<<"]],
]);
const LOGICAL = new Map([
  ["&&", "||"],
  ["||", "&&"],
  ["??", "&&"],
]);
const ASSIGNMENTS = new Map([
  ["+=", "-="],
  ["-=", "+="],
  ["*=", "/="],
  ["/=", "*="],
  ["|=", "&="],
  ["&=", "|="],
  ["<<=", ">>="],
  [">>=", "<<="],
  ["??=", "&&="],
  ["||=", "&&="],
  ["&&=", "||="],
]);
const METHODS = new Map([
  ["some", "every"],
  ["every", "some"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"],
  ["toLowerCase", "toUpperCase"],
  ["toUpperCase", "toLowerCase"],
  ["min", "max"],
  ["max", "min"],
]);
/** Methods that return a value like the one they are called on. */
const DROPPED = new Set([
  "filter",
  "slice",
  "subarray",
  "sort",
  "toSorted",
  "reverse",
  "toReversed",
  "trim",
  "trimStart",
  "trimEnd",
]);
const TESTED = new Set(["IfStatement", "ConditionalExpression", "WhileStatement", "DoWhileStatement", "ForStatement"]);
const LOOPS = new Set(["WhileStatement", "DoWhileStatement", "ForStatement"]);
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/**
 * The changes of one node.
 * @param {Node} node
 * @param {Place} place
 * @returns {Change[]}
 */
export function changesOf(node, place) {
  const { text, parent, key } = place;
  /** @type {Change[]} */
  const changes = [];
  const expression = (/** @type {string} */ replacement, /** @type {string} */ what) =>
    changes.push({ how: "expression", node, replacement, what });

  const tested = TESTED.has(parent.type) && key === "test";
  if (tested) {
    // An endless loop would only show that the loop terminates.
    if (!LOOPS.has(parent.type)) expression("true", "condition → true");
    expression("false", "condition → false");
  }

  switch (node.type) {
    case "BinaryExpression": {
      if (tested && !COMPARISONS.has(node.operator)) break;
      if (node.operator === "+" && (isText(node.left) || isText(node.right))) break;
      const others = OPERATORS.get(node.operator) ?? [];
      // Within a condition the negated comparison is caught whenever one of the constants is.
      for (const other of tested ? others.slice(0, 1) : others)
        expression(`${text(node.left)} ${other} ${text(node.right)}`, `${node.operator} → ${other}`);
      break;
    }
    case "LogicalExpression": {
      const other = /** @type {string} */ (LOGICAL.get(node.operator));
      expression(`(${text(node.left)}) ${other} (${text(node.right)})`, `${node.operator} → ${other}`);
      break;
    }
    case "UnaryExpression":
      if (node.operator === "!" && !tested) expression(text(node.argument), "! left out");
      if (node.operator === "-") expression(text(node.argument), "- left out");
      break;
    case "UpdateExpression": {
      const other = node.operator === "++" ? "--" : "++";
      const target = text(node.argument);
      expression(node.prefix ? `${other}${target}` : `${target}${other}`, `${node.operator} → ${other}`);
      break;
    }
    case "AssignmentExpression": {
      const other = ASSIGNMENTS.get(node.operator);
      if (other === undefined || (node.operator === "+=" && isText(node.right))) break;
      expression(`${text(node.left)} ${other} ${text(node.right)}`, `${node.operator} → ${other}`);
      break;
    }
    case "Literal":
      literal(node, parent, key, expression);
      break;
    case "TemplateLiteral":
      if (!isMessage(node)) expression('""', "template → empty");
      break;
    case "ArrayExpression":
      if (node.elements.length > 0) expression("[]", "array → []");
      break;
    case "ObjectExpression":
      if (node.properties.length > 0) expression("{}", "object → {}");
      break;
    case "CallExpression":
      call(node, text, expression);
      break;
    case "ChainExpression":
      for (const at of optionalLinks(node.expression)) {
        const whole = text(node);
        const from = whole.indexOf("?.", at - node.start);
        const next = whole[from + 2];
        const link = next === "[" || next === "(" ? "" : ".";
        expression(`${whole.slice(0, from)}${link}${whole.slice(from + 2)}`, "?. → .");
      }
      break;
    case "ArrowFunctionExpression":
      if (node.body.type !== "BlockStatement" && !isConstant(node.body))
        changes.push({ how: "expression", node: node.body, replacement: "undefined", what: "result → undefined" });
      break;
    case "BlockStatement":
      block(node, parent, key, changes);
      break;
    case "ExpressionStatement": {
      const called = node.expression.type === "AwaitExpression" ? node.expression.argument : node.expression;
      if (called.type === "CallExpression" && called.callee.type !== "Super")
        changes.push({ how: "statement", node, replacement: "", what: "call left out" });
      break;
    }
  }
  return changes;
}

/**
 * @param {Node} node
 * @param {Node} parent
 * @param {string} key
 * @param {(replacement: string, what: string) => void} expression
 */
function literal(node, parent, key, expression) {
  if (typeof node.value === "boolean") expression(String(!node.value), `${node.value} → ${!node.value}`);
  else if (typeof node.value === "string") {
    // Compared strings are covered by the condition. Wording is not behaviour: a text with a space is a message.
    if (parent.type === "BinaryExpression" || node.value.includes(" ")) return;
    if (parent.type === "NewExpression" && key === "arguments" && parent.callee.name?.endsWith("Error") === true)
      return;
    if (node.value === "") expression('"mutant"', '"" → "mutant"');
    else expression('""', `${node.raw} → ""`);
  } else if (node.regex !== undefined) {
    const { pattern, flags } = node.regex;
    if (pattern.startsWith("^") && !pattern.includes("|"))
      expression(`/${pattern.slice(1) || "(?:)"}/${flags}`, "^ left out");
    if (pattern.endsWith("$") && !pattern.endsWith("\\$") && !pattern.includes("|"))
      expression(`/${pattern.slice(0, -1) || "(?:)"}/${flags}`, "$ left out");
  }
}

/**
 * @param {Node} node
 * @param {(node: Node) => string} text
 * @param {(replacement: string, what: string) => void} expression
 */
function call(node, text, expression) {
  const { callee } = node;
  if (callee.type !== "MemberExpression" || callee.computed || callee.optional || node.optional) return;
  const name = callee.property.name;
  const other = METHODS.get(name);
  const receiver = text(callee.object);
  if (other !== undefined) {
    if ((name === "min" || name === "max") && receiver !== "Math") return;
    const rest = text(node).slice(callee.property.end - node.start);
    const before = text(node).slice(0, callee.property.start - node.start);
    expression(`${before}${other}${rest}`, `${name} → ${other}`);
  } else if (DROPPED.has(name) && callee.object.type !== "ThisExpression" && callee.object.type !== "Super")
    expression(receiver, `${name}() left out`);
}

/**
 * @param {Node} node
 * @param {Node} parent
 * @param {string} key
 * @param {Change[]} changes
 */
function block(node, parent, key, changes) {
  const [first] = node.body;
  if (first === undefined) return;
  // Leaving out the only call of a block is a change of its own.
  const alone = node.body.length === 1 && first.type === "ExpressionStatement";
  if (key === "body" && FUNCTIONS.has(parent.type)) {
    if (!alone && !hasSuperCall(node))
      changes.push({ how: "body", node, replacement: "", what: "function body emptied" });
  } else if (
    !alone &&
    (key === "alternate" ||
      key === "finalizer" ||
      parent.type === "CatchClause" ||
      ((parent.type === "ForOfStatement" || parent.type === "ForInStatement") && key === "body"))
  )
    changes.push({ how: "block", node, replacement: "", what: "block emptied" });
}

/** @param {Node} node */
const hasSuperCall = (node) =>
  node.body.some(
    (/** @type {Node} */ { type, expression }) =>
      type === "ExpressionStatement" && expression.type === "CallExpression" && expression.callee.type === "Super",
  );

/** @param {Node} node */
const isText = (node) => node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");

/** @param {Node} node */
const isMessage = (node) =>
  node.quasis.some((/** @type {Node} */ { value }) => (value.cooked ?? value.raw).includes(" ")) ||
  node.quasis.every((/** @type {Node} */ { value }) => value.raw === "");

/** Boolean literals and `undefined` have a change of their own, or none that shows. @param {Node} node */
const isConstant = (node) =>
  (node.type === "Literal" && typeof node.value === "boolean") ||
  (node.type === "Identifier" && node.name === "undefined");

/** Where the `?.` of a chain follow. @param {Node} node @returns {number[]} */
function optionalLinks(node) {
  if (node.type === "MemberExpression")
    return [...optionalLinks(node.object), ...(node.optional ? [node.object.end] : [])];
  if (node.type === "CallExpression") {
    const after = node.typeArguments?.start ?? node.callee.end;
    return [...optionalLinks(node.callee), ...(node.optional ? [Math.min(after, node.callee.end)] : [])];
  }
  if (node.type === "TSNonNullExpression") return optionalLinks(node.expression);
  return [];
}
