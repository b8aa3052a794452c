import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type OrderResult, OUTCOMES } from '../../src/order/outcome.ts';
import { sentence } from '../../src/order/sentence.ts';
import { RESULTS_HEADER, readResults, resultLine } from '../../src/report/results.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('=1+1', "'=1", '"', ',', '\r\n', '\ufeff', '0010', ''),
);
const results: fc.Arbitrary<OrderResult> = fc.record({
  line: fc.nat(),
  purchaseOrderNumber: text,
  outcome: fc.constantFrom(...OUTCOMES),
  attempts: fc.nat(20),
  at: fc.constant('2026-11-21T07:15:04.000Z'),
  code: text,
  message: text.map(sentence),
});

it('results are read as they were written, with any text', async () => {
  await using temp = await makeTempFolder();
  const path = join(temp.path, 'results.csv');
  await fc.assert(
    fc.asyncProperty(fc.array(results, { maxLength: 10 }), async (written) => {
      await writeFile(path, RESULTS_HEADER + written.map(resultLine).join(''));
      const read: OrderResult[] = [];
      for await (const result of readResults(path)) read.push(result);
      expect(read).toEqual(written);
    }),
  );
});
