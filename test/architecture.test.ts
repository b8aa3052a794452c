import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readSourceFiles, type SourceFile } from './support/source-files.ts';
import { bagsIn, functionsIn, type Measured } from './support/syntax.ts';

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readSourceFiles(src);
const byPath = new Map(files.map((file) => [file.path, file]));

/** The steps of an order, which are also the import order: a unit may import any unit named before it. */
const STEPS = [
  'order',
  'core',
  'config',
  'log',
  'redis',
  'ledger',
  'journal',
  'api',
  'queue',
  'intake',
  'parse',
  'mapping',
  'wording',
  'setup',
  'correct',
  'admit',
  'deliver',
  'reconcile',
  'report',
  'put-away',
  'notify',
  'operate',
  'operations',
  'views',
  'admin',
  'daemon',
  'cli',
  'main',
];

/** The only files outside of a folder. */
const LOOSE = ['daemon.ts', 'main.ts'];

/** The reference API is separate: the program is tested against it. */
const APART = { sandbox: { mayImport: ['order', 'core'], importedBy: ['cli'] } };

/** The one home of each package, so that replacing one is work in one place. */
const HOMES: Record<string, { units: string[]; typesAnywhere?: true }> = {
  bullmq: { units: ['queue'] },
  chokidar: { units: ['intake'] },
  commander: { units: ['cli', 'main'] },
  yauzl: { units: ['parse'] },
  saxes: { units: ['parse'] },
  'iconv-lite': { units: ['parse', 'report'] },
  '@streamparser/json': { units: ['api'] },
  ioredis: { units: ['redis'], typesAnywhere: true },
  pino: { units: ['log'], typesAnywhere: true },
  'pino-pretty': { units: ['log'] },
  'prom-client': { units: ['admin'] },
  '@opentelemetry/api': { units: ['log'] },
  '@opentelemetry/exporter-trace-otlp-proto': { units: ['log'] },
  '@opentelemetry/resources': { units: ['log'] },
  '@opentelemetry/sdk-trace': { units: ['log'] },
  undici: { units: ['core'] },
  yaml: { units: ['config', 'sandbox', 'setup'] },
  yazl: { units: ['correct'] },
  zod: { units: ['config', 'sandbox', 'api', 'journal', 'operations', 'cli', 'admin'] },
};

/** Lines of a function; keys of a bag of dependencies. */
const LIMITS = { function: 60, bag: 8 } as const;

/** `read/csv.ts` → `read`, `daemon.ts` → `daemon`. */
function unitOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : path.basename(file, '.ts');
}

function stepOf(unit: string): number {
  return STEPS.indexOf(unit);
}

/** Every import between two units, with what is wrong about it, if anything. */
function wrongImports(): string[] {
  return files.flatMap((file) =>
    file.imports.flatMap(({ target }) => {
      if (target === undefined || unitOf(target) === unitOf(file.path)) return [];
      const fault = faultOf(unitOf(file.path), unitOf(target));
      return fault === undefined ? [] : [`${file.path} imports ${target}: ${fault}`];
    }),
  );
}

function faultOf(from: string, to: string): string | undefined {
  if (from === 'sandbox') {
    return APART.sandbox.mayImport.includes(to)
      ? undefined
      : `sandbox/ may import only ${APART.sandbox.mayImport.join(', ')}`;
  }
  if (to === 'sandbox')
    return APART.sandbox.importedBy.includes(from) ? undefined : 'only cli/ starts the sandbox';
  if (stepOf(to) > stepOf(from))
    return `${to} comes after ${from}; move what both need down, or pass it in`;
  return undefined;
}

function findCycle(): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const { target } of byPath.get(file)?.imports ?? []) {
      const cycle = target === undefined ? undefined : visit(target, [...trail, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of files) {
    const cycle = visit(file.path, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** `@scope/name/sub` and `name/sub` as the package's name; undefined for our own files and Node's modules. */
function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

function placesOf(pattern: RegExp, of: (file: SourceFile) => boolean): string[] {
  return files
    .filter(of)
    .flatMap((file) =>
      [...file.code.matchAll(pattern)].map(
        ({ index }) => `${file.path}:${file.code.slice(0, index).split('\n').length}`,
      ),
    );
}

/**
 * Whether a file that exports one thing is named after that, or after a type that it also exports: a word of its name,
 * in any form, as in `list.ts` and `listOrders`.
 */
function isNamedAfterExport({ path: file, exports, types }: SourceFile): boolean {
  if (exports.length !== 1) return true;
  const words = path.basename(file, '.ts').split('-');
  return [...exports, ...types].some((name) =>
    words.some((word) => name.toLowerCase().includes(word.slice(0, 4))),
  );
}

function textOf(file: SourceFile): string {
  return readFileSync(path.join(src, file.path), 'utf8');
}

function beyond(all: readonly Measured[], limit: number): string[] {
  return all
    .filter(({ size }) => size > limit)
    .map(({ path: file, name, size }) => `${file}: ${name} has ${size}, at most ${limit}`);
}

describe('imports', () => {
  test('are found by the scanner', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(
      byPath.get('redis/private-server/private-server.ts')?.imports.map(({ target }) => target),
    ).toContain('redis/private-server/adopt-or-start.ts');
    expect(
      byPath
        .get('redis/private-server/private-server.ts')
        ?.imports.find(({ specifier }) => specifier === 'ioredis'),
    ).toEqual({
      specifier: 'ioredis',
      target: undefined,
      typeOnly: true,
    });
  });

  test('lead to files that exist, with their extension', () => {
    const lost = files.flatMap((file) =>
      file.imports
        .filter(({ target }) => target !== undefined && !existsSync(path.join(src, target)))
        .map(({ specifier }) => `${file.path}: ${specifier}`),
    );
    expect(lost).toEqual([]);
  });

  test('lead only to earlier steps', () => {
    expect(wrongImports()).toEqual([]);
  });

  test('know the step of every unit', () => {
    const unknown = files
      .map((file) => unitOf(file.path))
      .filter((unit) => stepOf(unit) < 0 && !(unit in APART));
    expect([...new Set(unknown)], 'give it a place in the list above').toEqual([]);
    expect(files.map((file) => file.path).filter((file) => !file.includes('/'))).toEqual(LOOSE);
  });

  test('form no cycle, not even of types', () => {
    expect(findCycle()?.join(' → ')).toBeUndefined();
  });

  test('reach each package from its one home', () => {
    const strays = files.flatMap((file) =>
      file.imports.flatMap(({ specifier, typeOnly }) => {
        const name = packageOf(specifier);
        if (name === undefined) return [];
        const home = HOMES[name];
        if (!home) return [`${file.path}: ${name} has no home yet; name one above`];
        if (home.units.includes(unitOf(file.path)) || (typeOnly && home.typesAnywhere)) return [];
        return [`${file.path}: ${name} belongs to ${home.units.join(', ')}; use what that offers`];
      }),
    );
    expect(strays).toEqual([]);
  });
});

describe('code', () => {
  test('touches the process only in main.ts', () => {
    const pattern = /(?<![\w.$])process\s*(?:\.|\?\.|\[)|(?:globalThis|global)\.process\b/g;
    expect(
      placesOf(pattern, ({ path }) => path !== 'main.ts'),
      'take it from the Shell',
    ).toEqual([]);
    const imported = files.filter((file) =>
      file.imports.some(({ specifier }) => specifier === 'node:process'),
    );
    expect(imported.map(({ path }) => path)).toEqual([]);
  });

  test('logs only through the functions of log/events/', () => {
    const pattern = /\blog(?:ger)?\??\.(?:trace|debug|info|warn|error|fatal)\(/g;
    expect(
      placesOf(pattern, ({ path }) => !path.startsWith('log/events/')),
      'name the event in log/events/',
    ).toEqual([]);
  });

  test('never writes to the console', () => {
    expect(
      placesOf(/\bconsole\./g, () => true),
      'use Shell.out or Shell.err',
    ).toEqual([]);
  });
});

test('sentences are made in wording/, and read by what shows them', () => {
  const shows =
    /^(?:wording|views|report|notify|operat(?:e|ions)|cli|admin)\/|^order\/sentence|^correct\/(?:fix-workbook|inspection)|^intake\/waiting/;
  expect(
    placesOf(/\basText\b/g, ({ path }) => !shows.test(path)),
    'decide by code and facts',
  ).toEqual([]);
  // What a file of ours has, and a part of one or several others.
  const makes = /^(?:wording|report|order|sandbox)\/|^put-away\/|^operate\/lists\//;
  expect(placesOf(/\bsentence\(/g, ({ path }) => !makes.test(path))).toEqual([]);
});

test('what reads files knows no word of a language: no list of words, and no letter that is not English', () => {
  // Kinds of files by their first bytes, and encodings by their names and characters.
  const isOfFormats = /^parse\/(?:foreign|decoder)\.ts$/;
  const words =
    /(?:[a-z]{3,}\|){2}[a-z]{3,}|(?:'[a-z]{3,}',\s*){4}'[a-z]{3,}'|(?![\0-\x7f])\p{L}/giu;
  const found = files
    .filter(({ path: file }) => ['parse', 'mapping'].includes(unitOf(file)))
    .filter(({ path: file }) => !isOfFormats.test(file))
    .flatMap((file) => {
      const code = textOf(file).replace(/\/\*.*?\*\/|\/\/.*?$/gms, '');
      return [...code.matchAll(words)].map(([text]) => `${file.path}: ${text}`);
    });
  expect(found, 'declare it in a mapping; only setup/ knows usual names').toEqual([]);
});

describe('files', () => {
  test('export by name, and only what they define', () => {
    expect(placesOf(/^export\s+default\b/gm, () => true)).toEqual([]);
    expect(
      placesOf(/^export\s+\*/gm, () => true),
      'import from where it is',
    ).toEqual([]);
  });

  test('are named after the one thing they export', () => {
    const others = files.filter((file) => !isNamedAfterExport(file));
    expect(others.map((file) => `${file.path} exports ${file.exports.join(', ')}`)).toEqual([]);
  });

  test('hold short functions', () => {
    const all = files.flatMap((file) => functionsIn(file.path, textOf(file)));
    expect(all.length).toBeGreaterThan(500);
    expect(beyond(all, LIMITS.function), 'name its parts').toEqual([]);
  });

  test('take few dependencies', () => {
    const all = files.flatMap((file) => bagsIn(file.path, textOf(file)));
    expect(beyond(all, LIMITS.bag), 'take the store or the context that holds them').toEqual([]);
  });

  test('in Lua are next to the file that runs them', () => {
    const scripts = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.lua'),
    );
    // A part of scripts is next to those that include it.
    const isIncluded = (script: string) =>
      scripts.some(
        (other) =>
          path.dirname(other) === path.dirname(script) &&
          readFileSync(path.join(src, other), 'utf8').includes(
            `-- include ${path.basename(script)}\n`,
          ),
      );
    const lonely = scripts.filter((script) => {
      const beside = files.filter((file) => path.dirname(file.path) === path.dirname(script));
      const runs = (file: (typeof files)[number]) =>
        readFileSync(path.join(src, file.path), 'utf8').includes(`./${path.basename(script)}`);
      return !isIncluded(script) && !beside.some(runs);
    });
    expect(lonely).toEqual([]);
  });
});
