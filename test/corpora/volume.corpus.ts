import { describe, expect, it } from 'vitest';
import type { LargeKind } from '../support/large-files.ts';
import { filesAtOnce, slowlyFed, wholeExport } from '../support/volume.ts';

const MILLION = 1_000_000;

/** Runs one and prints what it measured, for docs/guarantees.md. */
async function measured<T>(name: string, run: Promise<T>): Promise<T> {
  const figures = await run;
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  return figures;
}

describe('volume', () => {
  it('of an export of 500,000 orders, 500 of them new: 500 calls in a minute and 256 MB', async () => {
    const { calls, seconds, peakMb, counts } = await measured(
      'whole export',
      wholeExport(500_000, 500),
    );
    expect(calls).toBe(500);
    expect(counts).toMatchObject({ orders: 500_000, accepted: 500, duplicate: 499_500 });
    expect(seconds).toBeLessThan(60);
    expect(peakMb).toBeLessThan(256);
  });

  it.each<LargeKind>([
    'rows of one order together',
    'rows of one order far apart',
    'long orders, their rows together',
    'long orders, their rows far apart',
    'JSON on a single line',
  ])(
    'of %s, four million rows, while a slow API is fed: 200 MB here, 200 MB in Redis',
    async (kind) => {
      const { peakMb, redisMb } = await measured(kind, slowlyFed(kind, 4 * MILLION, 100));
      expect(peakMb).toBeLessThan(200);
      expect(redisMb).toBeLessThan(200);
    },
  );

  it('of 10,000 files, all there at once: each once', async () => {
    const figures = await measured('files at once', filesAtOnce(10_000));
    expect(figures).toMatchObject({ calls: 10_000, double: 0, reports: 10_000, done: 10_000 });
    expect(figures.peakMb).toBeLessThan(200);
  });
});
