import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export type Import = {
  /** As written: `../order/order.ts`, `node:fs`, `bullmq`. */
  specifier: string;
  /** The file it leads to, relative to the folder read; undefined for packages. */
  target: string | undefined;
  typeOnly: boolean;
};

export type SourceFile = {
  /** Relative to the folder read: `read/csv.ts`. */
  path: string;
  lines: number;
  imports: Import[];
  /** Names of what it exports for run time. */
  exports: string[];
  /** Names of the types it exports. */
  types: string[];
  /** The text with comments and plain strings blanked, so that only code is left. */
  code: string;
};

/** Every TypeScript file below `folder` with what it imports and exports. Reads text, not syntax trees. */
export function readSourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => readSourceFile(folder, name));
}

function readSourceFile(folder: string, name: string): SourceFile {
  const text = readFileSync(path.join(folder, name), 'utf8');
  const withoutComments = text.replace(COMMENT_OR_STRING, (match) =>
    isComment(match) ? '' : match,
  );
  return {
    path: name,
    lines: text.split('\n').length - 1,
    imports: importsOf(withoutComments, name),
    exports: exportsOf(withoutComments),
    types: [...withoutComments.matchAll(/^export\s+(?:type|interface)\s+(\w+)/gm)].map(
      ([, type = '']) => type,
    ),
    code: text.replace(COMMENT_OR_STRING, (match) => (isComment(match) ? '' : "''")),
  };
}

const COMMENT_OR_STRING =
  /\/\*[\s\S]*?\*\/|(?<![:\\/'"`])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

function isComment(match: string): boolean {
  return match.startsWith('/');
}

function importsOf(text: string, name: string): Import[] {
  const fixed = [
    ...text.matchAll(/^(?:import|export)\s+(type\s+)?([^;'"]*?)\s*from\s*['"]([^'"]+)['"]/gm),
  ].map(([, type, names, specifier]) =>
    toImport(name, specifier, type !== undefined || areAllTypes(names)),
  );
  const bare = [...text.matchAll(/^import\s*['"]([^'"]+)['"]/gm)].map(([, specifier]) =>
    toImport(name, specifier, false),
  );
  const dynamic = [...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)].map(
    ([whole, specifier]) => {
      const before = text.slice(0, text.indexOf(whole));
      return toImport(name, specifier, /(?::|<|typeof)\s*$/.test(before));
    },
  );
  return [...fixed, ...bare, ...dynamic];
}

/** `{ type A, type B }` brings nothing at run time. */
function areAllTypes(names = ''): boolean {
  const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
  if (inner === undefined) return false;
  return inner
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .every((one) => one.startsWith('type '));
}

function toImport(from: string, specifier = '', typeOnly: boolean): Import {
  const target = specifier.startsWith('.') ? path.join(path.dirname(from), specifier) : undefined;
  return { specifier, target, typeOnly };
}

function exportsOf(text: string): string[] {
  const declared = text.matchAll(
    /^export\s+(?:async\s+)?(?:function\*?|const|let|class)\s+([A-Za-z_$][\w$]*)/gm,
  );
  const listed = [...text.matchAll(/^export\s+\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').map((one) => one.trim().split(/\s+/).at(-1) ?? ''),
  );
  return [...[...declared].map(([, name = '']) => name), ...listed].filter((name) => name !== '');
}
