import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  discardedAgain,
  ERROR_COLUMNS,
  errorColumnOf,
  fixNote,
  intoInbox,
  openSteps,
  placeText,
  readFixCheck,
  readFixNote,
  writeFixCheck,
} from '../../src/order/fixing.ts';
import { escapeFormula } from '../../src/order/spreadsheet.ts';
import { csvLine } from '../../src/report/lines.ts';

const delimiters = fc.constantFrom(',', ';', '\t', '|', ':', undefined);

describe('the error columns', () => {
  it('are found in any case and with spaces around them', () => {
    for (const column of ERROR_COLUMNS)
      expect(errorColumnOf(` ${column.toUpperCase()} `)).toBe(column);
  });

  it('are no other columns', () => {
    for (const name of ['', '_error_', 'error_line', '_error_lines', 'PO_NO'])
      expect(errorColumnOf(name)).toBeUndefined();
  });
});

describe('the check of a fix file', () => {
  it('is a number with a leading zero, whichever sign groups thousands', () => {
    for (const delimiter of [',', ';']) expect(writeFixCheck(delimiter)).toMatch(/^0\d[.,]\d{3}$/);
  });

  it('is intact when it comes back unchanged, with or without spaces around it', () => {
    fc.assert(
      fc.property(delimiters, fc.constantFrom('', ' ', '\u00a0'), (delimiter, blank) => {
        expect(readFixCheck(blank + writeFixCheck(delimiter) + blank)).toBe('intact');
      }),
    );
  });

  it('is rewritten by every program that reads it as a number', () => {
    const asNumber = (text: string, thousands: string) =>
      Number(text.replace(thousands, '').replace(',', '.'));
    const shown = (number: number) =>
      fc.constantFrom(
        String(number),
        number.toFixed(2),
        number.toFixed(3),
        number.toLocaleString('en'),
        number.toLocaleString('de'),
      );
    const rewritten = fc
      .tuple(delimiters, fc.constantFrom(',', '.'))
      .chain(([delimiter, thousands]) => shown(asNumber(writeFixCheck(delimiter), thousands)));
    fc.assert(
      fc.property(rewritten, (cell) => {
        expect(readFixCheck(cell)).toBe('rewritten');
      }),
    );
  });

  it('is rewritten when it has any other text, and missing without one', () => {
    const other = fc
      .string({ minLength: 1 })
      .filter((text) => text.trim() !== '' && !/^01[.,]000$/.test(text.trim()));
    fc.assert(
      fc.property(other, (cell) => {
        expect(readFixCheck(cell)).toBe('rewritten');
      }),
    );
    expect(['', ' ', undefined].map(readFixCheck)).toEqual(['missing', 'missing', 'missing']);
  });

  it('has no quotes in a CSV of any delimiter, and is no formula', () => {
    fc.assert(
      fc.property(delimiters, (given) => {
        const delimiter = given ?? ';';
        const check = writeFixCheck(delimiter);
        expect(escapeFormula(check)).toBe(check);
        expect(csvLine([check, 'x'], { delimiter, newline: '\n' })).toBe(`${check}${delimiter}x\n`);
      }),
    );
  });
});

const batch = '20261121T071500Z-inbox-orders-3f2a91c0';

it('reads back the dead letter that it names, after any message', () => {
  const pointer = fc
    .string({ minLength: 1, maxLength: 60 })
    .map((text) => `/${text.replaceAll('\n', ' ')}`);
  const place = fc.oneof(
    fc.nat().map((line) => placeText({ line })),
    pointer.map((text) => placeText({ line: 1, pointer: text })),
  );
  fc.assert(
    fc.property(fc.string(), place, (message, at) => {
      expect(
        readFixNote(message.replaceAll(' of batch ', '') + fixNote({ place: at, batch })),
      ).toEqual({
        place: at,
        batch,
      });
    }),
  );
});

it.each([
  '',
  'is empty',
  `(line 3 of batch ${batch})`,
  ` (line x of batch ${batch})`,
  ` (line 3 of batch a/b)`,
  ` (line 3 of batch ${batch}) `,
])('finds none in %j', (message) => expect(readFixNote(message)).toBeUndefined());

describe('the steps of an open dead letter', () => {
  const correct = ['Correct the fix file.'];

  it('do not begin with a correction where the number is sent: they begin with the message', () => {
    const conflict = openSteps('1', { kind: 'conflict' }, { correct, isSent: true });
    expect(conflict.join('\n')).toMatch(
      /^Other content .* Agree on the change with the supplier, then discard .*\n.*discard --order 1\nOnly if it really is another order/,
    );
    const known = { kind: 'invalid', problems: [{ code: 'number-known' }] } as const;
    expect(openSteps('1', known, { correct, isSent: true }).join('\n')).toMatch(
      /Do what its message says, then discard/,
    );
  });

  it('quote a number that a shell would read otherwise', () => {
    const steps = openSteps('A $(id)', { kind: 'conflict' }, { correct, isSent: true });
    expect(steps).toContain("  po-sync dead-letters discard --order 'A $(id)'");
  });

  it('of a number in another spelling say first to look at both contents where the items differ', () => {
    const stepsOf = (items: string) => {
      const message = `order 088 differs from 88, which is accepted with ${items} items, only in case`;
      const problems = [{ code: 'other-spelling', message }];
      return openSteps('088', { kind: 'invalid', problems }, { correct, isSent: false });
    };
    expect(stepsOf('the same')[0]).toMatch(/same order .*, discard it:$/);
    expect(stepsOf('other')[0]).toMatch(/enter the number of that one to see both contents/);
  });

  it('discard what is not wanted, and correct what is only wrong', () => {
    const off = { kind: 'invalid', problems: [{ code: 'called-off' }] } as const;
    expect(openSteps('1', off, { correct, isSent: false })).toEqual([
      'If it is not wanted, discard it:',
      '  po-sync dead-letters discard --order 1',
      'If it is wanted:',
      ...correct,
    ]);
    const wrong = { kind: 'invalid', problems: [{ code: 'empty' }] } as const;
    expect(openSteps('1', wrong, { correct, isSent: false })).toEqual(correct);
  });
});

it('a row without an order number is not said to be sent again when it was discarded', () => {
  const rows = [{ kind: 'invalid' as const }, { kind: 'invalid' as const }];
  expect(discardedAgain(rows, 2)).toBe('The next file with such a row needs a person again.');
  expect(discardedAgain(rows, 1)).toMatch(
    /can send it: .* The next file with a row without an order number needs/,
  );
  expect(discardedAgain(rows)).not.toContain('row');
});

it('an order held for another spelling of its number is not said to be sent by the next file', () => {
  const held = { kind: 'invalid' as const, problems: [{ code: 'other-spelling' }] };
  const cannot =
    'cannot send it while its number is, in this or another spelling, accepted or in progress.';
  expect(discardedAgain([held])).toBe(`A file that brings a discarded order again ${cannot}`);
  expect(discardedAgain([held, { kind: 'invalid' }])).toContain(
    'Those whose number is, in this or another spelling,',
  );
});

it('a fix file of an export goes into any inbox, whose path is named', () => {
  const inbox = { type: 'inbox', path: '/in' };
  const own = { type: 'export', path: '/erp.csv' };
  expect(intoInbox({ sources: [inbox] })).toBe('into the inbox');
  expect(intoInbox({ sources: [own, inbox] })).toBe('into an inbox, such as /in');
  expect(intoInbox({ sources: [own] })).toContain('none is configured');
});
