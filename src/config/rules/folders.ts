import path from 'node:path';
import type { Finding, KeyPath } from '../problem.ts';
import type { SourceParts } from '../readable.ts';
import { isWebAddress } from '../source-schema.ts';
import type { Rule } from './ruling.ts';

type Folder = { path: KeyPath; called: string; folder: string };

/** Folders whose content is ours never lie in one another: what one part writes another would take or delete. */
export const folderRule: Rule = (parts, { folder: base }) => {
  const sources = parts.sources.flatMap(([index, source]) => sourceFolder(index, source, base));
  const inboxes = sources.filter(({ type }) => type === 'inbox');
  const exports = sources.filter(({ type }) => type === 'export');
  const reports: Folder[] = given(parts.reports, ['reports', 'path'], 'the reports', base);
  const data: Folder[] = given(parts.data, ['data'], 'the data folder', base);
  return {
    problems: [
      ...pairsOf(inboxes).flatMap(([one, other]) => apart(one, other)),
      ...inboxes.flatMap((inbox) => [...reports, ...data].flatMap((own) => apart(inbox, own))),
      ...exports.flatMap((source) => inboxes.flatMap((inbox) => outside(source, inbox))),
      ...data.flatMap((own) => reports.flatMap((cleaned) => outside(own, cleaned))),
    ],
    warnings: [],
  };
};

function sourceFolder(index: number, { name, type, path: written }: SourceParts, base: string) {
  if (type === undefined || written === undefined || isWebAddress(written)) return [];
  const place = path.resolve(base, written);
  const called = `the ${type} ${name ?? `in sources[${index}]`}`;
  return [{ type, path: ['sources', index, 'path'], called, folder: type === 'inbox' ? place : fixedFolder(place) }];
}

function given(written: string | undefined, path_: KeyPath, called: string, base: string): Folder[] {
  return written === undefined ? [] : [{ path: path_, called, folder: path.resolve(base, written) }];
}

function apart(one: Folder, other: Folder): Finding[] {
  return [...outside(other, one), ...(one.folder === other.folder ? [] : outside(one, other))];
}

/** `inner` must not be or lie in `outer`. */
function outside(inner: Folder, outer: Folder): Finding[] {
  if (!isWithin(inner.folder, outer.folder)) return [];
  const how = inner.folder === outer.folder ? 'is the same folder as' : 'lies in the folder of';
  return [{ path: inner.path, message: `${how} ${outer.called}`, hint: 'they must lie apart' }];
}

function isWithin(inner: string, outer: string): boolean {
  const way = path.relative(outer, inner);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}

/** The folder of a file or pattern, up to its first wildcard. */
function fixedFolder(pattern: string): string {
  return path.dirname(pattern.replace(/[*?[{].*$/, 'x'));
}

function pairsOf<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((one, index) => items.slice(index + 1).map((other): [Item, Item] => [one, other]));
}
