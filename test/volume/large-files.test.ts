import { expect, test } from 'vitest';
import { LARGE_KINDS, outcomeOf } from '../support/large-files.ts';
import { readLarge } from '../support/read-large.ts';

/** Some megabytes each; a gigabyte of some of them in test/corpora. */
const ROWS = 150_000;

test.each(LARGE_KINDS)('%s: read in bounded memory, or refused with its line', async (kind) => {
  const { roomMb, records, proved, ...came } = await readLarge(kind, ROWS);
  expect(came).toMatchObject(outcomeOf(kind, ROWS));
  expect(records).toBe(proved);
  expect(roomMb).toBeLessThan(100);
});
