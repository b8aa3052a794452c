import type { z } from 'zod';
import { type Finding, type KeyPath, nearest, shown } from './problem.ts';
import { configJsonSchema, keysAt } from './schema.ts';

/** Keys that people try for credentials. */
const CREDENTIAL = /^(client_?(id|secret)|secret|password|token|api_?key|credentials)$/i;
const CREDENTIAL_HINT =
  'never put credentials in this file: set PO_SYNC_<ENVIRONMENT>_CLIENT_ID and PO_SYNC_<ENVIRONMENT>_CLIENT_SECRET';

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** The message for an issue for which the schema has none; `input` is the value found. */
export function wordingOf(issue: RawIssue): string | undefined {
  const { input } = issue;
  if (input === undefined) return 'is missing';
  if (input === null) return 'has no value: give it one, or remove the key';
  if (issue.code === 'invalid_type') {
    return `expected ${kind(issue.expected)}, found ${shown(input)}${writtenSo(issue.expected, input)}`;
  }
  if (issue.code === 'invalid_value') {
    const known = issue.values.map(readable).join(', ');
    return `expected ${issue.values.length > 1 ? 'one of ' : ''}${known}; found ${shown(input)}`;
  }
  return undefined;
}

/** Converts zod's issues into findings, one for each key, with the nearest valid key or value. */
export function findingsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Finding[] {
  const schema = configJsonSchema();
  return issues.flatMap(insideColumn).flatMap((issue): Finding[] => {
    const path = issue.path.filter((key) => typeof key !== 'symbol');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownKey(path, key, { known: keysAt(schema, path), value }));
    if (issue.code === 'invalid_key')
      return [{ path, at: 'key', message: issue.issues[0]?.message ?? issue.message }];
    const found = valueAt(value, path);
    if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
      const known = keysAt(schema, path.slice(0, -1));
      return [...unknownBeside(path.slice(0, -1), known, value), discriminated(path, found, issue)];
    }
    const near =
      issue.code === 'invalid_value' ? meant(found, issue.values.map(String)) : undefined;
    return [withHint({ path, message: issue.message }, near)];
  });
}

/** What is wrong inside the keys of a column of a mapping, which may also be a word. */
function insideColumn(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.path.at(-2) !== 'columns') return [issue];
  const isInside = ({ path, code }: z.core.$ZodIssue) =>
    path.length > 0 || (code !== 'invalid_type' && code !== 'invalid_value');
  const inside = issue.errors.find((issues) => issues.every(isInside));
  if (inside === undefined) return [issue];

  // A misspelled key is also one that lacks.
  const isMisspelled = inside.some(({ code }) => code === 'unrecognized_keys');
  return inside
    .filter(({ path, code }) => !isMisspelled || path.length > 0 || code !== 'custom')
    .map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

function unknownKey(
  path: KeyPath,
  key: string,
  { known, value }: { known: string[]; value: unknown },
): Finding {
  const type = valueAt(value, [...path, 'type']);
  if (known.includes(key) && typeof type === 'string')
    return {
      path: [...path, key],
      at: 'key',
      message: `is not a key of type: ${type}`,
      hint: 'remove it, or change the type',
    };
  const hint =
    (CREDENTIAL.test(key) ? CREDENTIAL_HINT : undefined) ??
    meant(key, known) ??
    (known.length > 0 ? `known here: ${known.join(', ')}` : undefined);
  return withHint({ path: [...path, key], at: 'key', message: 'is not a known key' }, hint);
}

/** The schema looks at no other key before it knows the type. */
function unknownBeside(path: KeyPath, known: string[], value: unknown): Finding[] {
  const keys = Object.keys(valueAt(value, path) ?? {});
  return keys
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey(path, key, { known, value }));
}

/** Describes a missing or wrong `type` like any other value that must be one of a few. */
function discriminated(
  path: KeyPath,
  found: unknown,
  issue: z.core.$ZodIssueInvalidUnion,
): Finding {
  const options =
    'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
  const message =
    found === undefined
      ? 'is missing'
      : `expected one of ${options.join(', ')}; found ${shown(found)}`;
  return withHint(
    { path, message },
    found === undefined ? `one of ${options.join(', ')}` : meant(found, options),
  );
}

function meant(found: unknown, known: string[]): string | undefined {
  const near = typeof found === 'string' ? nearest(found, known) : undefined;
  return near === undefined ? undefined : `did you mean ${near}?`;
}

function withHint(finding: Finding, hint: string | undefined): Finding {
  return hint === undefined ? finding : { ...finding, hint };
}

function kind(expected: string): string {
  switch (expected) {
    case 'object':
    case 'record':
      return 'keys and values';
    case 'array':
      return 'a list';
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'text';
    default:
      return `a ${expected}`;
  }
}

/** A dot or a comma in a list needs quotes. */
function readable(value: unknown): string {
  return /^\W$/.test(String(value)) ? `"${String(value)}"` : String(value);
}

/** YAML reads 007 and true as a number and a boolean. */
function writtenSo(expected: string, input: unknown): string {
  if (expected === 'array') return '; begin each entry with "- "';
  return expected === 'string' && (typeof input === 'number' || typeof input === 'boolean')
    ? '; put it in quotes'
    : '';
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    return Object.getOwnPropertyDescriptor(inner, key)?.value;
  }, value);
}
