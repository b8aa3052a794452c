import path from 'node:path';
import type { Finding, KeyPath } from '../problem.ts';
import { nearest } from '../problem.ts';
import { fixedFolder, isPattern, isWebAddress } from '../source-schema.ts';
import type { Readable, SourceParts } from './ruling.ts';
import { type Rule, repeated } from './ruling.ts';

/** Sources have different names, and their mappings exist. */
export const sourceRule: Rule = (parts) => {
  const problems = [...sharedNames(parts), ...unknownMappings(parts)];
  return { problems, warnings: unusedMappings(parts) };
};

/** Names are used in file names, which some file systems compare without case, and in names of variables. */
function sharedNames({ sources }: Readable): Finding[] {
  const given = sources.flatMap(([index, { name }]) =>
    name === undefined ? [] : [{ index, name }],
  );
  return repeated(given, ({ name }) => name.toLowerCase().replaceAll('-', '_')).map(
    ([{ index, name }, first]) => ({
      path: ['sources', index, 'name'],
      message: `${name} is already the name of sources[${first.index}]`,
    }),
  );
}

function unknownMappings({ sources, mappings }: Readable): Finding[] {
  const known = mappings.length === 0 ? 'there are no mappings' : `known: ${mappings.join(', ')}`;
  return sources.flatMap(([index, { mapping = [] }]) => {
    const unknown = [mapping].flat().filter((name) => !mappings.includes(name));
    return unknown.map((name): Finding => {
      const near = nearest(name, mappings);
      const hint = near === undefined ? known : `did you mean ${near}?`;
      return { path: ['sources', index, 'mapping'], message: `there is no mapping ${name}`, hint };
    });
  });
}

function unusedMappings({ sources, mappings }: Readable): Finding[] {
  const used = new Set(sources.flatMap(([, { mapping = [] }]) => mapping));
  return mappings.flatMap((name): Finding[] =>
    used.has(name)
      ? []
      : [{ path: ['mappings', name], at: 'key', message: 'is not used by any source' }],
  );
}

type Folder = { path: KeyPath; called: string; folder: string };

/** Folders that po-sync writes or empties are never inside each other: one part would take or delete another's files. */
export const folderRule: Rule = (parts, { folder: base }) => {
  const sources = parts.sources.flatMap(([index, source]) => sourceFolder(index, source, base));
  const inboxes = sources.filter(({ type }) => type === 'inbox');
  const exports = sources.filter(({ type }) => type === 'export');
  const answers = parts.sources.flatMap(([index, source]) => answersFolder(index, source, base));
  const reports: Folder[] = given(parts.reports, ['reports', 'path'], 'the reports', base);
  const data: Folder[] = given(parts.data, ['data'], 'the data folder', base);
  return {
    problems: [
      ...pairsOf(inboxes).flatMap(([one, other]) => apart(one, other)),
      ...inboxes.flatMap((inbox) => [...reports, ...data].flatMap((own) => apart(inbox, own))),
      ...exports.flatMap((source) => inboxes.flatMap((inbox) => outside(source, inbox))),
      ...answers.flatMap((own) =>
        [...inboxes, ...reports, ...data].flatMap((other) => apart(own, other)),
      ),
      ...answers.flatMap((own) => exports.flatMap((source) => unread(own, source))),
      ...data.flatMap((own) => reports.flatMap((cleaned) => outside(own, cleaned))),
    ],
    warnings: [],
  };
};

function sourceFolder(index: number, { name, type, path: written }: SourceParts, base: string) {
  if (type === undefined || written === undefined || isWebAddress(written)) return [];
  const place = path.resolve(base, written);
  const called = `the ${type} ${name ?? `in sources[${index}]`}`;
  const folder = type === 'inbox' ? place : fixedFolder(place);
  return [{ type, path: ['sources', index, 'path'], called, folder, written }];
}

function answersFolder(index: number, { name, answers }: SourceParts, base: string): Folder[] {
  const called = `the answers of ${name ?? `sources[${index}]`}`;
  return given(answers, ['sources', index, 'answers'], called, base);
}

/** An answer in the folder of an export's pattern would be read as an export. */
function unread(answers: Folder, source: Folder & { written: string }): Finding[] {
  const isRead = isPattern(source.written) && isWithin(answers.folder, source.folder);
  return isRead && (answers.folder === source.folder || source.written.includes('**'))
    ? outside(answers, source)
    : [];
}

function given(
  written: string | undefined,
  path_: KeyPath,
  called: string,
  base: string,
): Folder[] {
  return written === undefined
    ? []
    : [{ path: path_, called, folder: path.resolve(base, written) }];
}

function apart(one: Folder, other: Folder): Finding[] {
  return [...outside(other, one), ...(one.folder === other.folder ? [] : outside(one, other))];
}

/** `inner` must not be `outer` or inside it. */
function outside(inner: Folder, outer: Folder): Finding[] {
  if (!isWithin(inner.folder, outer.folder)) return [];
  const how = inner.folder === outer.folder ? 'is the same folder as' : 'is inside the folder of';
  return [{ path: inner.path, message: `${how} ${outer.called}`, hint: 'use separate folders' }];
}

function isWithin(inner: string, outer: string): boolean {
  const way = path.relative(outer, inner);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}

function pairsOf<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((one, index) =>
    items.slice(index + 1).map((other): [Item, Item] => [one, other]),
  );
}
