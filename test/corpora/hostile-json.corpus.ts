import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import { createJsonParser } from '../../src/parse/json/json-records.ts';

/** Runs of each; set CORPUS_RUNS for more. */
const RUNS = Number(process.env['CORPUS_RUNS'] ?? 20_000);

const documents = fc
  .json({ maxDepth: 6 })
  .map((text) => `[${text},{"a":[1,{"b":null}],"é":"\\u00e9\\n😀"},-0.5e1,true]`);
const pieces = fc.constantFrom(
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '-',
  '.',
  'e',
  'n',
  'true',
  ' ',
  '\n',
  '\u0000',
  '\\u',
  '\\ud800',
  '\ufeff',
  '__proto__',
  "'",
  '/*',
  '😀',
);
const mutations = fc.array(fc.tuple(fc.nat(), fc.nat(6), pieces), { maxLength: 3 });

/** Cuts and inserts somewhere; units of a pair stay together, as files are UTF-8. */
function mutate(text: string, changes: readonly [number, number, string][]): string {
  return changes.reduce((current, [at, length, piece]) => {
    const characters = Array.from(current);
    characters.splice(at % (characters.length + 1), length, piece);
    return characters.join('');
  }, text);
}

/** The elements as our parser reads them in chunks, or the code of its error. */
function ours(text: string, chunk: number): { values: unknown[] } | { code: string } {
  const parser = createJsonParser({ kind: 'list', path: [] });
  const characters = Array.from(text);
  const records: { value: unknown }[] = [];
  try {
    for (let at = 0; at < characters.length; at += chunk) {
      records.push(...parser.write(Buffer.from(characters.slice(at, at + chunk).join(''))));
    }
    records.push(...parser.end());
    return { values: records.map(({ value }) => JSON.parse(JSON.stringify(value))) };
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    expect(error.facts['line'], `${error.code} has a line`).toBeGreaterThan(0);
    return { code: error.code };
  }
}

function platform(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

test('whatever JSON.parse reads, we read the same, and what it refuses, we refuse', () => {
  fc.assert(
    fc.property(
      documents,
      mutations,
      fc.integer({ min: 1, max: 50 }),
      (document, changes, chunk) => {
        const text = mutate(document, changes);
        const expected = platform(text);
        const found = ours(text, chunk);
        if (expected !== undefined) {
          if ('code' in found) expect(found.code).toBe('unreadable-repeated-key');
          else expect(found.values).toEqual(expected);
        } else if ('values' in found) {
          // Several values after each other, or none, are refused by whoever asked for one array.
          expect(startsNewValue(text)).toBe(true);
        }
      },
    ),
    { numRuns: RUNS },
  );
});

/**
 * Whether the text is no array, or several JSON values, or only has a byte order mark too many between brackets before
 * its first text, which the tokenizer passes over.
 */
function startsNewValue(text: string): boolean {
  const rest = text.replaceAll('\ufeff', '').trimStart();
  if (!rest.startsWith('[') || (rest !== text && platform(rest) !== undefined)) return true;
  for (let end = 1; end <= rest.length; end++) {
    if (platform(rest.slice(0, end)) !== undefined && rest.slice(end).trim() !== '') return true;
  }
  return false;
}
