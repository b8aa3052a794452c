import { type Node, parseSync } from 'oxc-parser';
import { linesOfCode } from './budget.ts';

export type Measured = { path: string; name: string; size: number };

type Visit = (node: Node, name: string) => void;

/**
 * Every function of a file with its lines of code (neither blank nor comment), less those of the
 * functions that are declared in it, which count for themselves. One without a name carries the
 * name of what it is assigned to.
 */
export function functionsIn(path: string, text: string): Measured[] {
  const found: Measured[] = [];
  walk(programOf(path, text), path, (node, name) => {
    if (FUNCTIONS.has(node.type)) found.push({ path, name, size: ownLines(node, text) });
  });
  return found;
}

function ownLines(node: Node, text: string): number {
  let own = text.slice(node.start, node.end);
  walk(node, '', (inner) => {
    if (inner === node || inner.type !== 'FunctionDeclaration') return;
    own = own.replace(text.slice(inner.start, inner.end), '');
  });
  return linesOfCode(own);
}

/** Every object type of a file whose name ends in `Deps`, with the number of its keys. */
export function bagsIn(path: string, text: string): Measured[] {
  const found: Measured[] = [];
  walk(programOf(path, text), path, (node, name) => {
    if (node.type === 'TSTypeLiteral' && name.endsWith('Deps'))
      found.push({ path, name, size: node.members.length });
  });
  return found;
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
/** A nested type is a value of the bag, not a bag. */
const NAMELESS = new Set(['TSPropertySignature', 'TSMethodSignature']);

const programs = new Map<string, Node>();

function programOf(path: string, text: string): Node {
  const known = programs.get(path);
  if (known) return known;
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  programs.set(path, program);
  return program;
}

function walk(node: unknown, name: string, visit: Visit): void {
  if (Array.isArray(node)) for (const one of node) walk(one, name, visit);
  else if (isNode(node)) {
    const own = NAMELESS.has(node.type) ? '' : (nameOf(node) ?? name);
    visit(node, own);
    for (const child of Object.values(node)) walk(child, own, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function nameOf(node: Node): string | undefined {
  const named = 'id' in node ? node.id : 'key' in node ? node.key : undefined;
  return isNode(named) && named.type === 'Identifier' ? named.name : undefined;
}
