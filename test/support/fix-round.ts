import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import type { Change } from '../../src/order/dead-letter.ts';
import { asWritten } from '../../src/order/fixing.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import { correctionOf } from '../../src/report/corrections.ts';
import { createList, deadLetterOf, deliveryDeadLetterOf } from '../../src/report/dead-letters.ts';
import { fixFile, fixFileName } from '../../src/report/fix-file/fix-file.ts';
import { openFixWorkbook } from '../../src/report/fix-file/workbook.ts';
import { howToRead } from '../../src/validate/how-to-read.ts';
import { readOrders } from '../../src/validate/read-orders.ts';
import { inShort, mappingOf } from './read-text.ts';
import { AT } from './reported.ts';
import { makeTempFolder } from './temp-folder.ts';

/** The batches of the files that are dropped, one after the other. */
const batchNo = (no: number) => `2026112${no}T071500Z-erp-orders-3f2a91c0`;

/** The name of each of these files. */
const NAME = 'orders of May.csv';

/** A fix file as po-sync wrote it, and what becomes of it when it comes back. */
export type FixRound = AsyncDisposable & {
  /** The fix file of the last file that was dropped, and how its batch is called. */
  written(): { text: string; bytes: Buffer; batch: string; folder: string };
  /** Reads a file that is dropped: what it would send, in short, and its problems. */
  drops(content: string | Buffer): Promise<Dropped>;
  /** Forgets what was written for the batch. */
  forget(): Promise<void>;
};

export type Dropped = {
  sent: unknown[];
  messages: string[];
  warnings: string[];
  changes: Change[];
};

/**
 * Drops a file whose orders all need a person: the invalid ones, and the valid ones because the API refuses them unless
 * `accepts` them. Each further file is a separate batch with a separate report.
 */
export async function openFixRound(
  content: string | Buffer,
  settings: Parameters<typeof mappingOf>[0] = {},
  accepts: (number: string) => boolean = () => false,
): Promise<FixRound> {
  const folder = await makeTempFolder();
  const config = {
    environment: 'staging',
    sources: [{ name: 'erp', mapping: 'erp' }],
    mappings: { erp: mappingOf(settings) },
    reports: { path: folder.path },
  } as unknown as Config;
  const batches = new Set<string>();
  const found = {
    find: (batch: string) => {
      const settledPath = path.join(folder.path, `${batch}.settled`);
      return Promise.resolve(
        batches.has(batch) ? { batch, source: 'erp', name: NAME, settledPath } : undefined,
      );
    },
  };
  let last = { text: '', bytes: Buffer.alloc(0), batch: '', folder: '' };

  async function drops(dropped: string | Buffer): Promise<Dropped> {
    const batch = batchNo(batches.size + 1);
    const file = path.join(folder.path, `${batch}.settled`);
    await writeFile(file, dropped);
    const how = await howToRead(file, 'erp', { config, batches: found });
    const inspection = await inspectFile(file, how.mapping, { originals: how.originals });
    const orders: CheckedOrder[] = [];
    for await (const one of readOrders(file, inspection)) orders.push(one);
    batches.add(batch);
    const facts = {
      kind: 'refused' as const,
      code: '400',
      message: 'No',
      attempts: 1,
      firstAt: AT,
      lastAt: AT,
    };
    const fix = fixFile(inspection.shape, batch);
    const list = createList<object>();
    const pieces: Uint8Array[] = [fix.opening()];
    let entries = '';
    for (const order of orders.filter((one) => !one.valid || !accepts(one.number))) {
      const deadLetter = order.valid ? deliveryDeadLetterOf(order, facts) : deadLetterOf(order, AT);
      pieces.push(fix.recordsOf(order, deadLetter));
      entries += list.entry(deadLetter);
    }
    const bytes = Buffer.concat([...pieces, fix.closing()]);
    const own = path.join(folder.path, batch);
    const { format } = inspection.shape;
    const written = path.join(own, fixFileName(format));
    await mkdir(own);
    await writeFile(written, bytes);
    await writeFile(path.join(own, asWritten(fixFileName(format))), bytes);
    await writeFile(path.join(own, 'dead-letters.json'), entries + list.closing());
    await using workbook = written.endsWith('.csv')
      ? await openFixWorkbook(own, { path: written, format })
      : undefined;
    await workbook?.publish();
    last = { text: bytes.toString('utf8'), bytes, batch, folder: own };
    return {
      sent: inShort(orders),
      messages: orders.flatMap((one) =>
        one.valid ? [] : one.problems.map(({ field, message }) => `${field}: ${message}`),
      ),
      warnings: inspection.warnings,
      changes: orders.flatMap((one) => correctionOf(one, inspection)?.changes ?? []),
    };
  }

  await drops(content);
  return {
    written: () => last,
    drops,
    forget: () => rm(last.folder, { recursive: true }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
