import { afterAll, beforeAll, expect, test } from 'vitest';
import { mapCommand } from '../../src/cli/commands/map.ts';
import { fakeShell } from '../support/fake-shell.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { fileIn } from './samples.ts';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;

beforeAll(async () => {
  folder = await makeTempFolder();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

const ORDERS = 'PO;Article;Qty;Status\nP-1;A-1;2;OPEN\nP-2;A-2;2;OPEN\nP-3;A-3;1;DRAFT\n';

function shellIn() {
  return fakeShell({ cwd: folder.path });
}

/** Writes the mapping of the sample as printed, changed by a replacement. */
async function mappingFile(change: (printed: string) => string = (printed) => printed) {
  await fileIn(folder.path, 'orders.csv', ORDERS);
  const shell = shellIn();
  expect(await mapCommand({ json: false, files: ['orders.csv'] }, shell)).toBe(0);
  await fileIn(folder.path, 'mapping.yaml', change(shell.written.out));
}

test('what is held is shown with its reason, and the exit code is 2', async () => {
  await mappingFile();
  const shell = shellIn();
  expect(
    await mapCommand({ json: false, files: ['orders.csv'], test: 'mapping.yaml' }, shell),
  ).toBe(2);
  expect(shell.written.out).toContain('orders.csv: 3 orders, 1 invalid');
  expect(shell.written.out).toContain(
    'orders.csv:4: Status: is not one of the values that are sent: "OPEN", found "DRAFT" (order P-3)',
  );
});

test('the exit code is 0 when everything would be sent or is left out', async () => {
  await mappingFile((printed) => printed.replace('[ OPEN ]', '[OPEN], skip: [DRAFT]'));
  const shell = shellIn();
  const args = { files: ['orders.csv'], test: 'mapping.yaml', json: true };
  expect(await mapCommand(args, shell)).toBe(0);
  expect(JSON.parse(shell.written.out)).toMatchObject({
    files: [{ orders: 2, invalid: 0, warnings: ['1 record left out, as the mapping says.'] }],
  });
});

test('a file that would wait is shown with the values of its undeclared column', async () => {
  await mappingFile();
  await fileIn(folder.path, 'other.csv', ORDERS.replace('Status', 'Stand'));
  const shell = shellIn();
  expect(await mapCommand({ json: false, files: ['other.csv'], test: 'mapping.yaml' }, shell)).toBe(
    2,
  );
  expect(shell.written.out).toContain(
    'it lacks "Status", and its mapping does not declare "Stand"',
  );
  expect(shell.written.out).toContain('Stand: ignore # 2× "OPEN", 1× "DRAFT"');
});

test('an unreadable file is shown as such', async () => {
  await mappingFile();
  await fileIn(folder.path, 'empty.csv', '');
  const shell = shellIn();
  expect(await mapCommand({ json: false, files: ['empty.csv'], test: 'mapping.yaml' }, shell)).toBe(
    2,
  );
  expect(shell.written.err).toContain('empty.csv: unreadable-empty');
});

test('a file can be one mapping', async () => {
  await mappingFile((printed) =>
    printed.split('\n').slice(2).join('\n').replace('[ OPEN ]', '[OPEN, DRAFT]'),
  );
  const shell = shellIn();
  expect(
    await mapCommand({ json: false, files: ['orders.csv'], test: 'mapping.yaml' }, shell),
  ).toBe(0);
});

test.each([
  ['columns: 3', /^mappings\.bad\.columns: expected/],
  ['a: [', /^line 1, column/],
  [
    'mappings: { m: { columns: { PO: { is: purchaseOrderNumber } } } }',
    /no column is: articleCode/,
  ],
])('what is wrong with the mapping %j is said', async (text, message) => {
  await fileIn(folder.path, 'orders.csv', ORDERS);
  const file = await fileIn(folder.path, 'bad.yaml', text);
  const result = mapCommand({ json: false, files: ['orders.csv'], test: 'bad.yaml' }, shellIn());
  await expect(result).rejects.toMatchObject({ code: 'mapping-invalid' });
  const said = await result.catch((error: Error) => error.message.replace(`${file}: `, ''));
  expect(said).toMatch(message);
});
