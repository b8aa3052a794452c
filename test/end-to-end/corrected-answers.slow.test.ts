import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import type { Workplace } from '../support/workplace.ts';

const INBOX = 'type: inbox, path: inbox, mapping: erp, stable: 100ms, poll: 200ms';
const EXPORT = 'type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms';
const MAPPING = `mappings:
  erp:
    encoding: windows-1252
    columns:
      purchaseOrderNumber: { is: purchaseOrderNumber }
      articleCode: { is: articleCode }
      quantity: { is: quantity }
      note: ignore
`;
/** As an ERP of Western Europe writes it. */
const FILE = Buffer.from(
  'purchaseOrderNumber;articleCode;quantity;note\nPO-1;A;1;x\nPO-2;S\u00e4ge;none;y\n',
  'latin1',
);
const HEAD = 'purchaseOrderNumber;articleCode;quantity;note;_outcome;_at;_code;_message;_at_api\n';

async function open(
  source: string,
): Promise<Workplace & { answersIn: (folder: string) => Promise<string[]> }> {
  const place = await openWorkplace({
    source,
    more: MAPPING,
  });
  for (const folder of ['answers', 'buyers']) await mkdir(path.join(place.folder, folder));
  return { ...place, answersIn: (folder) => readAll(path.join(place.folder, folder)) };
}

/** The answers in a folder. Latin-1 keeps each byte as one character. */
async function readAll(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.csv'));
  return await Promise.all(names.map((name) => readFile(path.join(folder, name), 'latin1')));
}

it.each([
  ['has none', '', []],
  ['has its own', ', answers: buyers', ['purchaseOrderNumber;art', 'purchaseOrderNumber;art']],
])(
  'an export gets the answers to fix files of another source that %s, in the form of its own file',
  async (_, buyers, own) => {
    await using place = await open(
      `- { name: erp, ${EXPORT}, answers: answers }\n  - { name: buyers, ${INBOX}${buyers} }`,
    );
    await writeFile(path.join(place.folder, 'erp.csv'), FILE);
    await place.run(['start', '--once']);
    for (const [was, now] of [
      ['none', 'many'],
      ['many', '7'],
    ] as const) {
      const last = (await place.reportsNow()).at(-1);
      if (last === undefined) throw new Error('no report');
      const rows = await place.read(last, 'fix.xlsx');
      await place.drop(`${now}.xlsx`, rows.replace(`,${was},`, `,${now},`));
      await place.run(['start', '--once']);
    }
    expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2']);
    const answers = (await place.answersIn('answers')).map((text) =>
      text.split(/;\d{4}-[^;]*/).join(''),
    );
    expect(answers.sort()).toEqual([
      expect.stringContaining('PO-1;A;1;x;accepted'),
      `${HEAD}PO-2;S\u00e4ge;7;y;accepted;;;yes\n`,
      expect.stringMatching(
        /^purchaseOrderNumber;.*\nPO-2;S\u00e4ge;many;y;invalid;not-a-number;.*\n$/,
      ),
    ]);
    expect((await place.answersIn('buyers')).map((text) => text.slice(0, 23))).toEqual(own);
  },
);
