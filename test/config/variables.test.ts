import { expect, it } from 'vitest';
import { requireConfirmation, requireSameEnvironment } from '../../src/config/variables.ts';
import { configOf, LEAST } from '../support/config-text.ts';

const open = configOf(LEAST).config;
const guarded = configOf(LEAST.replace('{ baseUrl', '{ protected: true, baseUrl')).config;

it.each([
  ['the flag', 'staging', {}],
  ['the variable', undefined, { PO_SYNC_CONFIRM: 'staging' }],
  ['the flag before the variable', 'staging', { PO_SYNC_CONFIRM: 'uat' }],
])('a protected environment opens when it is named by %s', (_, flag, env) => {
  expect(() => requireConfirmation(guarded, flag, env)).not.toThrow();
});

it.each([
  ['nothing', undefined, {}, 'staging is a protected environment.'],
  ['an empty variable', undefined, { PO_SYNC_CONFIRM: '' }, 'staging is a protected environment.'],
  ['another name in the flag', 'uat', {}, 'staging is a protected environment.'],
  ['another case', 'Staging', {}, 'staging is a protected environment.'],
  [
    'the flag before the variable',
    'uat',
    { PO_SYNC_CONFIRM: 'staging' },
    'staging is a protected environment',
  ],
  [
    'another name in the variable',
    undefined,
    { PO_SYNC_CONFIRM: 'yes' },
    'and PO_SYNC_CONFIRM names yes',
  ],
])('a protected environment stays closed with %s', (_, flag, env, message) => {
  expect(() => requireConfirmation(guarded, flag, env)).toThrow(
    expect.objectContaining({
      code: 'confirmation-missing',
      message: expect.stringContaining(message),
    }),
  );
});

it('any other environment requires none', () => {
  expect(() =>
    requireConfirmation(open, undefined, { PO_SYNC_CONFIRM: 'production' }),
  ).not.toThrow();
});

it.each([open, guarded])(
  '--confirm names the environment of the command, or it is an error',
  (config) => {
    expect(() => requireSameEnvironment(config, undefined)).not.toThrow();
    expect(() => requireSameEnvironment(config, 'staging')).not.toThrow();
    expect(() => requireSameEnvironment(config, 'production')).toThrow(
      expect.objectContaining({
        code: 'confirmation-other',
        message: '--confirm names production, but the command works on staging.',
        remedy: expect.stringContaining('--environment production'),
      }),
    );
  },
);
