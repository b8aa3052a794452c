import { describe, expect, it } from 'vitest';
import { filesAtOnce, slowlyFed, wholeExport } from '../support/volume.ts';

/** The short forms; what they become at full size is in test/corpora. */
describe('volume', () => {
  it('a complete export costs a call only for what is new', async () => {
    const { calls, counts } = await wholeExport(5_000, 5);
    expect(calls).toBe(5);
    expect(counts).toMatchObject({ orders: 5_000, accepted: 5, duplicate: 4_995 });
  });

  it('a file is not in memory while it is sent to a slow API', async () => {
    const { peakMb, redisMb } = await slowlyFed('long orders, their rows far apart', 200_000, 10);
    expect(peakMb).toBeLessThan(200);
    expect(redisMb).toBeLessThan(50);
  });

  it('of files that are present at once, each is taken once', async () => {
    expect(await filesAtOnce(300)).toMatchObject({
      calls: 300,
      double: 0,
      reports: 300,
      done: 300,
    });
  });
});
