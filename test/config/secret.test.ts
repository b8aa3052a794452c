import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from '../../src/config/secret.ts';

const secret = new Secret('canary-4711');

it.each([
  ['a string', String(secret)],
  ['joining', ['a', secret].join()],
  ['JSON', JSON.stringify({ deep: [{ secret }] })],
  ['inspect', inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ['format', format('%s %o %j', secret, secret, secret)],
  ['a spread', JSON.stringify(Object.assign({}, secret))],
  ['its keys', Reflect.ownKeys(secret).join()],
  [
    'an error',
    new Error('x', { cause: secret }).stack + inspect(new Error('x', { cause: secret })),
  ],
  ['a structured clone', inspect(structuredClone(Object.assign({}, secret)))],
])('%s does not show it', (_, text) => {
  expect(text).not.toContain('canary');
});

it('reveals itself on request', () => {
  expect(secret.reveal()).toBe('canary-4711');
});
