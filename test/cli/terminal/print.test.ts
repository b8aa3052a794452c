import { expect, it } from 'vitest';
import { confirmation, createPaint, errorText } from '../../../src/cli/terminal/print.ts';
import { errorDocument, PoSyncError } from '../../../src/core/errors.ts';

it.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, false],
  [false, {}, false],
])('on a terminal %j with %j there is color: %j', (isTTY, env, coloured) => {
  expect(createPaint({ isTTY, env })('bad', 'x') !== 'x').toBe(coloured);
});

const ask = (answer: string | undefined, err: (text: string) => void = () => undefined) => ({
  columns: 80,
  ask: async () => answer,
  err,
});

it.each([
  ['y', true],
  ['YES ', true],
  ['n', false],
  ['', false],
  ['yesterday', false],
])('the answer %j means %j', async (answer, meant) => {
  const said: string[] = [];
  const shell = ask(answer, (text) => void said.push(text));
  expect(await confirmation('Continue?', { yes: false, json: false }, shell)).toBe(meant);
  expect(said).toEqual(meant ? [] : ['Nothing was changed.\n']);
});

it('--yes asks nobody', async () => {
  const shell = { ...ask(''), ask: () => Promise.reject(new Error('asked')) };
  expect(await confirmation('Continue?', { yes: true, json: false }, shell)).toBe(true);
});

it.each([
  [{ yes: false, json: false }, ask(undefined)],
  [{ yes: false, json: true }, ask('y')],
])('fails if nobody can be asked', async (args, shell) => {
  await expect(confirmation('Continue\u001b?', args, shell)).rejects.toMatchObject({
    code: 'not-confirmed',
    message: 'Continue\\u001b? Confirmation required.',
    remedy: expect.stringContaining('--yes'),
  });
});

it('shows the question with the possible answers, hidden characters escaped', async () => {
  const asked: string[] = [];
  const shell = { ...ask(''), ask: async (question: string) => void asked.push(question) };
  await confirmation('Really\u202e?', { yes: false, json: false }, shell).catch(() => undefined);
  expect(asked).toEqual(['Really\\u202e? [y/N] ']);
});

it('breaks a long question between words', async () => {
  const asked: string[] = [];
  const shell = {
    ...ask(''),
    columns: 40,
    ask: async (question: string) => void asked.push(question),
  };
  const question = 'Cancel the orders of 20261127T163529Z-inbox-w-0904c22a, 160 orders?';
  await confirmation(question, { yes: false, json: false }, shell).catch(() => undefined);
  expect(asked).toEqual([
    'Cancel the orders of\n20261127T163529Z-inbox-w-0904c22a, 160\norders? [y/N] ',
  ]);
});

it.each([
  ['ENOSPC', 'Free some space'],
  ['EDQUOT', 'quota'],
  ['EROFS', 'for writing'],
  ['EMFILE', 'ulimit -n'],
  ['EACCES', 'permission'],
])('%s is one sentence with a remedy, not a stack trace', (code, remedy) => {
  const error = Object.assign(new Error(`${code}: no, write '/data/x'`), { code, path: '/data/x' });
  expect(errorText(error)).toMatch(
    new RegExp(`^po-sync: ${code}: no, write '/data/x'( \\(.*\\))?\\.\n  .*${remedy}.*\n$`),
  );
  expect(errorDocument(error)).toMatchObject({
    code: `machine-${code.toLowerCase()}`,
    facts: { path: '/data/x' },
  });
});

it('an error that po-sync did not expect keeps its stack', () => {
  expect(errorText(new TypeError('a bug'))).toMatch(/^po-sync: TypeError: a bug\n\s+at /);
});

it('an error fits the width of the terminal, its remedy indented', () => {
  const error = new PoSyncError(
    'order-unknown',
    'Order PO-1 not found in staging. Did you mean PO-2 or PO-3?',
    {
      remedy: 'Enter the complete number, as in the file, and check the environment.',
    },
  );
  expect(errorText(error, 40)).toBe(
    [
      'po-sync: Order PO-1 not found in',
      '         staging. Did you mean PO-2 or',
      '         PO-3?',
      '  Enter the complete number, as in the',
      '  file, and check the environment.',
      '',
    ].join('\n'),
  );
  expect(errorText(error).split('\n')).toHaveLength(3);
});
