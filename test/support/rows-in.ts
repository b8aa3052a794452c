import { expect } from 'vitest';
import type { Operator } from './operator.ts';
import { plain } from './plain.ts';
import { until } from './until.ts';
import { unzip } from './zip.ts';

/** The rows of a workbook when it is there; a number has `#` before it. */
export async function rowsIn({ port, cookie }: Operator, path: string) {
  return until(`the workbook ${path}`, async () => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { cookie, connection: 'close' },
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    if (!reply.headers.get('content-type')?.includes('spreadsheetml')) return undefined;
    const xml = (await unzip(bytes)).get('xl/worksheets/sheet1.xml')?.toString() ?? '';
    expect(xml).not.toContain('<f>');
    const rows = [...xml.matchAll(/<row .*?<\/row>/gs)].map(([row]) =>
      [...row.matchAll(/<c [^>]*?(?: t="(\w+)")?>(.*?)<\/c>/gs)].map(
        ([, type, value = '']) => (type ? '' : '#') + plain(value.replace(/<[^>]*>/g, '')),
      ),
    );
    return { rows, name: reply.headers.get('content-disposition') };
  });
}
