import { expect, it } from 'vitest';
import { confirmation } from '../../../src/cli/terminal/confirmation.ts';

const ask = (answer: string | undefined) => ({ ask: async () => answer });

it.each([
  ['y', true],
  ['YES ', true],
  ['n', false],
  ['', false],
  ['yesterday', false],
])('the answer %j means %j', async (answer, meant) => {
  expect(await confirmation('Go on?', { yes: false, json: false }, ask(answer))).toBe(meant);
});

it('asks nobody after --yes', async () => {
  const shell = { ask: () => Promise.reject(new Error('asked')) };
  expect(await confirmation('Go on?', { yes: true, json: false }, shell)).toBe(true);
});

it.each([
  [{ yes: false, json: false }, ask(undefined)],
  [{ yes: false, json: true }, ask('y')],
])('refuses where nobody can be asked', async (args, shell) => {
  await expect(confirmation('Go on\u001b?', args, shell)).rejects.toMatchObject({
    code: 'not-confirmed',
    message: 'Go on\\u001b? Nobody is there to say yes.',
    remedy: expect.stringContaining('--yes'),
  });
});

it('shows the question with its answers, escaped', async () => {
  const asked: string[] = [];
  const shell = { ask: async (question: string) => void asked.push(question) };
  await confirmation('Really\u202e?', { yes: false, json: false }, shell).catch(() => undefined);
  expect(asked).toEqual(['Really\\u202e? [y/N] ']);
});
