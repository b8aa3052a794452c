import { pointerStep } from '../../order/text.ts';
import { LIMITS } from '../limits.ts';
import { isSameName } from '../names.ts';
import { listed, unreadable } from '../unreadable.ts';
import type { JsonText } from './json-text.ts';

/** The list of records in a document, or its one record; `beside`: the keys that are on the way to it, but no step. */
export type Found = { at: number; pointer: string; beside: string[] };

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
    const entries = document.entries(at);
    const key = keyNamed(entries, step);
    if (key === undefined) throw leadsNowhere(steps, names, document, at);
    const others = [...entries.keys()].filter((one) => one !== key);
    beside.push(...others.map((one) => [...names, one].join('.')));
    names.push(key);
    at = entries.get(key) ?? at;
  }

  if (steps.length > 0 && document.opens(at) !== '[')
    throw leadsNowhere(steps, names, document, at);
  return { at, pointer: names.map(pointerStep).join(''), beside: beside.slice(0, LIMITS.names) };
}

/** The key of the only list of objects, or of the only empty one; none if the document is a list or has no such. */
function onlyList(document: JsonText): string | undefined {
  if (document.opens(document.root) !== '{') return undefined;
  const lists = [...document.entries(document.root)]
    .filter(([, value]) => document.opens(value) === '[')
    .map(([key, value]) => ({ key, has: document.looksInto(value) }));
  const filled = lists.filter(({ has }) => has === 'objects');
  const found = filled.length > 0 ? filled : lists.filter(({ has }) => has === 'nothing');
  if (found.length < 2) return found[0]?.key;
  throw unreadable({ code: 'several-lists', names: listed(found.map(({ key }) => key)) });
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
  value: number,
) {
  const opens = document.opens(value);
  const keys = opens === '{' ? listed([...document.entries(value).keys()]) : 'no keys';
  return unreadable({
    code: 'records',
    path: steps.join('.'),
    at: names.length === 0 ? 'the document' : names.join('.'),
    names: opens === '[' ? 'elements, no keys' : keys,
  });
}
