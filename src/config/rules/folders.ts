import path from 'node:path';
import type { Finding, KeyPath } from '../problem.ts';
import { isWebAddress } from '../source-schema.ts';
import type { Rule } from './ruling.ts';

type Folder = { path: KeyPath; called: string; folder: string };

/** Folders whose content is ours never lie in one another: what one part writes another would take or delete. */
export const folderRule: Rule = (parts, { folder: base }) => {
  const inboxes = parts.sources.flatMap(([index, source]): Folder[] =>
    source.type === 'inbox' ? [sourceFolder(index, source, path.resolve(base, source.path))] : [],
  );
  const exports = parts.sources.flatMap(([index, source]): Folder[] =>
    source.type === 'export' && !isWebAddress(source.path)
      ? [sourceFolder(index, source, fixedFolder(path.resolve(base, source.path)))]
      : [],
  );
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

function sourceFolder(index: number, source: { name: string; type: string }, folder: string): Folder {
  return { path: ['sources', index, 'path'], called: `the ${source.type} ${source.name}`, folder };
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
