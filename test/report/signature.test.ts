import { expect, it } from 'vitest';
import { batchTitle } from '../../src/order/batch.ts';
import { signatureOf, wordingOf } from '../../src/report/signature.ts';

const same: [string, string][] = [
  ['Article ART-17 is unknown.', 'Article X9 is unknown.'],
  ['Quantity 1,5 is not whole.', 'Quantity 2.75 is not whole.'],
  ['"abc" is not a number', '"xyz uvw" is not a number'],
  ["Value 'a' refused", "Value 'b c' refused"],
  ['Value “a” refused', 'Value „b“ refused'],
  ['failed at 2026-11-21T07:15:00Z', 'failed at 2026-12-01T00:00:00Z'],
  ['Parameters  are invalid\n', 'parameters are invalid'],
];

it.each(same)('%j and %j have one signature', (one, other) => {
  expect(signatureOf({ code: '400', message: one })).toBe(
    signatureOf({ code: '400', message: other }),
  );
});

it('the file and the batch of the other order do not count', () => {
  const messages = [
    batchTitle('20261121T071500Z-inbox-a-3f2a91c0', 'a.csv'),
    batchTitle('20261122T071500Z-erp-b-00000001', 'b x.csv'),
  ];
  const [one, other] = messages.map((title) =>
    signatureOf({ code: 'other-content', message: `accepted, from ${title}` }),
  );
  expect(one).toBe(other);
});

it('an order number without digits does not count, wherever the message repeats it', () => {
  const one = signatureOf({ code: '400', message: 'Order ALPHA exists', known: ['ALPHA'] });
  expect(one).toBe(signatureOf({ code: '400', message: 'Order BETA exists', known: ['BETA'] }));
});

it('an apostrophe in a word does not open a quotation', () => {
  expect(wordingOf({ code: 'x', message: "It isn't known and can't be" })).toBe(
    "it isn't known and can't be",
  );
});

it('words that only contain a known text are kept', () => {
  const one = signatureOf({ code: '400', message: 'Quantity a of an article', known: ['a'] });
  expect(one).toBe(
    signatureOf({ code: '400', message: 'Quantity b of an article', known: ['b', '(', '\\'] }),
  );
});

it('another code, field or wording has another signature', () => {
  const names = [
    signatureOf({ code: '400', message: 'Article unknown' }),
    signatureOf({ code: '401', message: 'Article unknown' }),
    signatureOf({ code: '400', field: 'MENGE', message: 'Article unknown' }),
    signatureOf({ code: '400', message: 'Customer blocked' }),
  ];
  expect(new Set(names).size).toBe(4);
});

it('a signature is short and plain for any text', () => {
  const name = signatureOf({
    code: 'a b/c',
    field: 'x'.repeat(300),
    message: '$(rm -rf) `x` \u202e'.repeat(9999),
  });
  expect(name.length).toBeLessThan(100);
  expect(name).toMatch(/^[\p{L}\p{N}._:-]+$/u);
});

it('a hostile message takes no long time', () => {
  const start = performance.now();
  signatureOf({
    code: 'x',
    message: `${'"'.repeat(50_000)}${"'".repeat(50_000)}${'a'.repeat(100_000)}`,
    known: ['a'],
  });
  expect(performance.now() - start).toBeLessThan(10_000);
});

it('signatures do not change from version to version', () => {
  expect(
    signatureOf({
      code: 'quantity-not-whole',
      field: 'MENGE',
      message: 'Quantity "1,5" is not whole.',
    }),
  ).toBe('quantity-not-whole:MENGE:3b527b75');
});
