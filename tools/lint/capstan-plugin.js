/** Lint rules of our own that oxlint has no built-in for. */
import { bare, EXPORTS, MEMBERS, names, TIMED_MODULES, TIMER_OPTIONS } from "./ambient-names.js";
import { SOCKET_TIMERS } from "./socket-timers.js";
import { WORDING } from "./wording.js";

/** The name of a property, written `.name` or `["name"]`; undefined when it is computed. */
function propertyName({ computed, property, key }) {
  const node = property ?? key;
  if (node.type === "Literal") return String(node.value);
  return !computed && node.type === "Identifier" ? node.name : undefined;
}

const noBareDate = {
  create(context) {
    const isDate = ({ type, name }) => type === "Identifier" && name === "Date";
    const message = "the Date of now is real time: take a Clock and use clock.now().";
    return {
      NewExpression(node) {
        if (isDate(node.callee) && node.arguments.length === 0) context.report({ node, message });
      },
      // Called as a function it ignores its arguments.
      CallExpression(node) {
        if (isDate(node.callee)) context.report({ node, message });
      },
    };
  },
};

const FORBIDDEN_METHODS = new Set(["transactionSync", "putSync", "removeSync"]);

/** lmdb's synchronous writes return before fdatasync and spoil the durability of what follows. */
const noSyncTransaction = {
  create(context) {
    return {
      MemberExpression(node) {
        const name = propertyName(node);
        if (FORBIDDEN_METHODS.has(name))
          context.report({ node, message: `${name} is not durable: use the awaited transaction().` });
      },
    };
  },
};

/** Real chance and timers come from one place each (random.ts, clock.ts). */
const noAmbientImports = {
  create(context) {
    const report = (node, what) =>
      context.report({ node, message: `${what} is real time or chance: take a Clock or a Random.` });
    const named = (node, module, name) => {
      if (names(EXPORTS.get(module), name)) report(node, `${name} of ${module}`);
    };
    const whole = (node, source) => {
      const module = bare(source?.value);
      if (EXPORTS.has(module))
        context.report({
          node,
          message: `import what you need of ${module} by name, so that real time and chance are seen.`,
        });
    };
    return {
      ImportDeclaration(node) {
        if (node.importKind === "type") return;
        const module = bare(node.source.value);
        if (node.specifiers.length === 0 || EXPORTS.get(module) === "*") return whole(node, node.source);
        for (const s of node.specifiers)
          if (s.type !== "ImportSpecifier") whole(s, node.source);
          else if (s.importKind !== "type") named(s, module, s.imported.name ?? s.imported.value);
      },
      ExportNamedDeclaration(node) {
        if (node.source === null || node.exportKind === "type") return;
        for (const s of node.specifiers) named(s, bare(node.source.value), s.local.name ?? s.local.value);
      },
      ExportAllDeclaration(node) {
        if (node.exportKind !== "type") whole(node, node.source);
      },
      ImportExpression(node) {
        whole(node, node.source);
      },
    };
  },
};

/** The same of what is there without an import, however it is reached: as a member, taken apart, or under another name. */
const noAmbientMembers = {
  create(context) {
    const report = (node, object, name) =>
      context.report({ node, message: `${object}.${name} is real time or chance: take a Clock or a Random.` });
    const takenApart = (pattern, value) => {
      if (value?.type !== "Identifier" || !MEMBERS.has(value.name)) return;
      if (pattern.type === "Identifier")
        return context.report({ node: value, message: `${value.name} under another name hides real time and chance.` });
      if (pattern.type !== "ObjectPattern") return;
      for (const property of pattern.properties) {
        const name = property.type === "Property" ? propertyName(property) : undefined;
        if (name === undefined || names(MEMBERS.get(value.name), name)) report(property, value.name, name ?? "*");
      }
    };
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || !MEMBERS.has(node.object.name)) return;
        const name = propertyName(node);
        if (name === undefined || names(MEMBERS.get(node.object.name), name))
          report(node, node.object.name, name ?? "*");
      },
      VariableDeclarator: (node) => takenApart(node.id, node.init),
      AssignmentPattern: (node) => takenApart(node.left, node.right),
      AssignmentExpression: (node) => takenApart(node.left, node.right),
    };
  },
};

/** Sockets, servers, requests and child processes bring timers of their own. */
const noHiddenTimers = {
  create(context) {
    const file = String(context.filename).replaceAll("\\", "/");
    if ([...SOCKET_TIMERS.keys()].some((allowed) => file.endsWith(`/${allowed}`))) return {};
    let timed = false;
    const found = [];
    const isOff = (value) => value?.type === "Literal" && value.value === 0;
    const mark = (source) => {
      timed ||= TIMED_MODULES.has(bare(source?.value));
    };
    return {
      ImportDeclaration(node) {
        if (node.importKind !== "type") mark(node.source);
      },
      ImportExpression: (node) => mark(node.source),
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression" || isOff(node.arguments[0])) return;
        const name = propertyName(callee);
        if (name === "setTimeout" || name === "setInterval")
          context.report({ node, message: `${name} of a socket or a request is a real timer: take a Clock.` });
      },
      Property(node) {
        if (node.parent.type === "ObjectExpression" && TIMER_OPTIONS.has(propertyName(node)) && !isOff(node.value))
          found.push(node);
      },
      AssignmentExpression(node) {
        if (node.left.type === "MemberExpression" && TIMER_OPTIONS.has(propertyName(node.left)) && !isOff(node.right))
          found.push(node);
      },
      "Program:exit"() {
        if (!timed) return;
        for (const node of found)
          context.report({
            node,
            message: "this option is a real timer: set 0, take a Clock, or see socket-timers.js.",
          });
      },
    };
  },
};

/** TypeScript's `private` exists for the compiler only; a constructor has no other form. */
const noPrivateKeyword = {
  create(context) {
    const check = (node) => {
      if (node.accessibility === "private" && node.kind !== "constructor")
        context.report({ node, message: "write #name: TypeScript's private is not there at run time." });
    };
    return { PropertyDefinition: check, MethodDefinition: check, AccessorProperty: check, TSParameterProperty: check };
  },
};

const WORDING_PATTERN = new RegExp(`\\b(${[...WORDING.keys()].join("|").replaceAll(" ", "\\s+")})\\b`, "gi");

/** Texts are written in the words of the Kubernetes docs. Comments are not checked. */
const wording = {
  create(context) {
    const check = (node, text) => {
      const found = [...text.matchAll(WORDING_PATTERN)].map(([match]) => match.toLowerCase().replaceAll(/\s+/g, " "));
      for (const word of new Set(found))
        context.report({ node, message: `"${word}" reads as translated: write ${WORDING.get(word)}.` });
    };
    return {
      Literal(node) {
        if (typeof node.value === "string") check(node, node.value);
      },
      TemplateElement: (node) => check(node, node.value.cooked ?? node.value.raw),
      JSXText: (node) => check(node, node.value),
    };
  },
};

export default {
  meta: { name: "capstan" },
  rules: {
    "no-bare-date": noBareDate,
    "no-sync-transaction": noSyncTransaction,
    "no-ambient-imports": noAmbientImports,
    "no-ambient-members": noAmbientMembers,
    "no-hidden-timers": noHiddenTimers,
    "no-private-keyword": noPrivateKeyword,
    wording,
  },
};
