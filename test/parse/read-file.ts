import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PoSyncError } from '../../src/core/errors.ts';
import { openFile } from '../../src/parse/open.ts';
import type { Declared, RawRecord, Row, Summary, Value } from '../../src/parse/record.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

export type Read = { records: RawRecord[]; summary: Summary };

/** A folder with one file, whose content is read anew for each case. */
export async function openReader(): Promise<
  AsyncDisposable & {
    read(content: string | Buffer, declared?: Partial<Declared>): Promise<Read>;
    head(content: string | Buffer, declared: Partial<Declared>, by: string): Promise<string[][]>;
  }
> {
  const folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  const open = async (content: string | Buffer, declared: Partial<Declared>) => {
    await writeFile(file, content);
    return await openFile(file, { isWritten: false, ...declared });
  };
  return {
    async read(content, declared = {}) {
      await using opened = await open(content, declared);
      const records: RawRecord[] = [];
      for await (const page of opened.records()) records.push(...page);
      return { records, summary: opened.summary() };
    },
    async head(content, declared, by) {
      await using opened = await open(content, declared);
      return (await opened.head(by)).map(({ cells }) => [...cells]);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export function rowsOf({ records }: Pick<Read, 'records'>): Row[] {
  return records.flatMap((record) => (record.kind === 'row' ? [record] : []));
}

export function cellsOf(read: Pick<Read, 'records'>): string[][] {
  return rowsOf(read).map(({ cells }) => [...cells]);
}

export function valuesOf({ records }: Pick<Read, 'records'>): Value[] {
  return records.flatMap((record) => (record.kind === 'object' ? [record.value] : []));
}

/** How reading ended: the code and the facts of the error, without what is undefined. */
export async function faultOf(reading: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof PoSyncError)
      return { code: error.code.replace('unreadable-', ''), ...error.facts };
    throw error;
  }
  return { code: 'read' };
}
