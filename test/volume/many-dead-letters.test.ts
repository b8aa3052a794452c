import { expect, it } from 'vitest';
import { manyDeadLetters } from './dead-letters.ts';

it('thousands of dead letters are listed, filtered, exported, sent again and discarded, in bounded memory', async () => {
  const figures = await manyDeadLetters(1_500);
  const { refused, invalid, idle, list, filter, exported, retry, discard } = figures;
  expect(figures).toMatchObject({ invalid: 1_500, left: [0, 0], wrong: 0 });
  expect(refused).toBeGreaterThan(1_200);
  expect([list.told, filter.told, exported.told]).toEqual([
    refused + invalid,
    refused,
    refused + invalid,
  ]);
  expect([retry.queued, discard.givenUp]).toEqual([refused, invalid]);
  for (const { peakMb } of [list, filter, exported, retry, discard])
    expect(peakMb - idle.peakMb).toBeLessThan(60);
});
