import { expect, it } from 'vitest';
import { signatureOf } from '../../src/report/signature.ts';

const same: [string, string][] = [
  ['Article ART-17 is unknown.', 'Article X9 is unknown.'],
  ['Quantity 1,5 is not whole.', 'Quantity 2.75 is not whole.'],
  ['"abc" is not a number', '"xyz uvw" is not a number'],
  ["Value 'a' refused", "Value 'b c' refused"],
  ['failed at 2026-11-21T07:15:00Z', 'failed at 2026-12-01T00:00:00Z'],
  ['Parameters  are invalid\n', 'parameters are invalid'],
];

it.each(same)('the API says the same with %j and %j', (one, other) => {
  expect(signatureOf({ code: '400', says: one })).toBe(signatureOf({ code: '400', says: other }));
});

it('another code, field or wording has another signature', () => {
  const names = [
    signatureOf({ code: '400', says: 'Article unknown' }),
    signatureOf({ code: '401', says: 'Article unknown' }),
    signatureOf({ code: '400', says: "It isn't known and can't be" }),
    signatureOf({ code: 'missing', field: 'MENGE' }),
    signatureOf({ code: 'missing', field: 'MATNR' }),
  ];
  expect(new Set(names).size).toBe(5);
});

it('a signature is short and plain for any text', () => {
  const name = signatureOf({
    code: 'a b/c',
    field: 'x'.repeat(300),
    says: `$(rm -rf) \u202e ${'"'.repeat(50_000)}${"'".repeat(50_000)}${'a'.repeat(100_000)}`,
  });
  expect(name).toMatch(/^[\p{L}\p{N}._:-]{1,100}$/u);
});

it('signatures do not change from version to version', () => {
  expect(signatureOf({ code: 'not-whole', field: 'MENGE' })).toBe('not-whole:MENGE');
  expect(signatureOf({ code: '400', says: 'Quantity "1,5" is not whole.' })).toBe('400:3b527b75');
});
