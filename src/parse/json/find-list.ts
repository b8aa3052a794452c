import { pointerStep } from '../../order/text.ts';
import { LIMITS } from '../limits.ts';
import { isSameName } from '../names.ts';
import { listed, unreadable } from '../unreadable.ts';
import type { JsonText, Piece } from './json-text.ts';

/** The list of records in a document, or its one record; `beside`: the keys that are on the way to it, but no step. */
export type Found = { at: Piece; pointer: string; beside: string[] };

/**
 * Finds the list: where the path leads, else the document itself or the only list of objects at its first level.
 * PoSyncError `unreadable-records` for a path that leads to no list, `unreadable-several-lists`.
 */
export function findList(document: JsonText, path: readonly string[] | undefined): Found {
  const only = path === undefined ? onlyList(document) : undefined;
  const steps = path ?? (only === undefined ? [] : [only]);
  const names: string[] = [];
  const beside: string[] = [];
  let at = document.root;

  for (const step of steps) {
    if (document.opens(at) !== '{') throw leadsNowhere(steps, names, document, at);
    const entries = entriesOf(document, at);
    const key = keyNamed(entries, step);
    const inner = entries.get(key ?? '');
    if (key === undefined || inner === undefined) throw leadsNowhere(steps, names, document, at);
    for (const [other, piece] of entries) {
      if (other === key) continue;
      document.checked(piece);
      beside.push([...names, other].join('.'));
    }
    names.push(key);
    at = inner;
  }

  if (steps.length > 0 && document.opens(at) !== '[')
    throw leadsNowhere(steps, names, document, at);
  return { at, pointer: names.map(pointerStep).join(''), beside: beside.slice(0, LIMITS.names) };
}

/** The key of the only list of objects, or of the only empty one; none if the document is a list or has no such. */
function onlyList(document: JsonText): string | undefined {
  if (document.opens(document.root) !== '{') return undefined;
  const lists = [...entriesOf(document, document.root)]
    .filter(([, value]) => document.opens(value) === '[')
    .map(([key, value]) => ({ key, has: contentOf(document, value) }));
  const filled = lists.filter(({ has }) => has === 'objects');
  const found = filled.length > 0 ? filled : lists.filter(({ has }) => has === 'nothing');
  if (found.length < 2) return found[0]?.key;
  throw unreadable({ code: 'several-lists', names: listed(found.map(({ key }) => key)) });
}

/** The values of an object by their keys. */
function entriesOf(document: JsonText, object: Piece): Map<string, Piece> {
  const entries = new Map<string, Piece>();
  for (const part of document.parts(object)) {
    if (entries.has(part.key)) throw document.twice(part);
    entries.set(part.key, part);
  }
  return entries;
}

/** Whether a list has an object, or no element at all. */
function contentOf(document: JsonText, list: Piece): 'objects' | 'nothing' | 'other' {
  let found: 'nothing' | 'other' = 'nothing';
  for (const part of document.parts(list)) {
    if (document.opens(part) === '{') return 'objects';
    found = 'other';
  }
  return found;
}

/** The key with this name: the one that is written so, else the only one that differs in case or spaces. */
function keyNamed(entries: ReadonlyMap<string, unknown>, name: string): string | undefined {
  if (entries.has(name)) return name;
  const same = [...entries.keys()].filter((key) => isSameName(key, name));
  return same.length === 1 ? same[0] : undefined;
}

function leadsNowhere(
  steps: readonly string[],
  names: readonly string[],
  document: JsonText,
  value: Piece,
) {
  const opens = document.opens(value);
  const keys = opens === '{' ? listed([...entriesOf(document, value).keys()]) : 'no keys';
  return unreadable({
    code: 'records',
    path: steps.join('.'),
    at: names.length === 0 ? 'the document' : names.join('.'),
    names: opens === '[' ? 'elements, no keys' : keys,
  });
}
