import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PoSyncError } from '../../../src/core/errors.ts';
import { createJsonParser } from '../../../src/parse/json/json-records.ts';
import { runs } from '../../support/runs.ts';

/** Reads in pieces of these lengths, which are repeated: a piece may end within a character's bytes of the content. */
function read(text: string, lengths: readonly number[]) {
  const bytes = Buffer.from(text);
  const parser = createJsonParser({ kind: 'list', path: [] });
  const records = [];
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const length = lengths[turn % lengths.length] ?? 1;
      records.push(...parser.write(bytes.subarray(at, at + length)));
      at += length;
    }
    records.push(...parser.end());
    return records.map(({ line, pointer, value }) => ({
      line,
      pointer,
      text: JSON.stringify(value),
    }));
  } catch (error) {
    if (error instanceof PoSyncError) return { code: error.code, message: error.message };
    throw error;
  }
}

const value = fc.json({ maxDepth: 4 });
const gap = fc.constantFrom('', ' ', '\n', '\r\n', '\t', '\n\n ');
const number = fc.constantFrom(
  '0',
  '-0',
  '1.50',
  '1e2',
  '12345678901234567890',
  '0.1E+05',
  '9007199254740993',
  '-7',
);
const document = fc
  .array(
    fc.tuple(
      gap,
      fc.oneof(
        value,
        number.map((source) => `{"n":${source}}`),
      ),
      gap,
    ),
    { maxLength: 6 },
  )
  .map((all) => `[${all.map((parts) => parts.join('')).join(',')}]`);
const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

describe('records', () => {
  test('are the same wherever the content is split', () => {
    fc.assert(
      fc.property(document, pieces, (text, lengths) => {
        expect(read(text, lengths)).toEqual(read(text, [text.length * 4]));
      }),
      { numRuns: runs(1000) },
    );
  });

  test('are those of JSON.parse', () => {
    fc.assert(
      fc.property(document, pieces, (text, lengths) => {
        const expected: unknown[] = JSON.parse(text);
        const found = read(text, lengths);
        if (!Array.isArray(found)) expect(found.code).toBe('unreadable-repeated-key');
        else expect(found.map((one) => JSON.parse(one.text))).toEqual(expected);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('that are damaged anywhere fail at the same place wherever the content is split', () => {
    fc.assert(
      fc.property(
        document,
        pieces,
        fc.nat(),
        fc.constantFrom('"', '}', ']', ',', ':', 'x', '\\', '\u0001'),
        (...given) => {
          const [text, lengths, at, piece] = given;
          const place = at % (text.length + 1);
          const damaged = `${text.slice(0, place)}${piece}${text.slice(place)}`;
          if (!damaged.isWellFormed()) return;
          expect(read(damaged, lengths)).toEqual(read(damaged, [damaged.length * 4]));
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  test('keep the source text of their numbers', () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 5 }), pieces, (sources, lengths) => {
        const text = `[[${sources.join(',')}]]`;
        expect(read(text, lengths)).toEqual([
          { line: 1, pointer: '/0', text: `[${sources.join(',')}]` },
        ]);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('a fault', () => {
  test.each([
    ['[{"a":1,}]', 'Line 1, column 9: "}" where a key in double quotes is expected.'],
    ['[{"a" 1}]', 'Line 1, column 7: "1" where ":" is expected.'],
    ['[{"a":1 "b":2}]', 'Line 1, column 9: "\\"" where "," or the end is expected.'],
    ['[{"a":tru}]', 'Line 1, column 7: "tru" is not expected there.'],
    ['[{"a":"\\x"}]', 'Line 1, column 8: "\\\\x\\"" is not expected there.'],
    ['[{"ä":1},\n {"ä":1,\n  "ä":2}]', 'Line 3, column 3: the key "ä" occurs twice.'],
    ['[{"a":[1,2}]', 'Line 1, column 11: "}" where "," or the end is expected.'],
    ['[{"__proto__":1,"__proto__":2}]', 'Line 1, column 17: the key "__proto__" occurs twice.'],
  ])('in %j is named with its place', (text, message) => {
    expect(read(text, [3])).toMatchObject({ message });
  });
});
