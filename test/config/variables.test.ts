import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import {
  misspeltVariables,
  requireConfirmation,
  requireSameEnvironment,
} from '../../src/config/variables.ts';
import { configOf, LEAST } from '../support/config-text.ts';

const open = configOf(LEAST).config;
const guarded = configOf(LEAST.replace('{ baseUrl', '{ protected: true, baseUrl')).config;

const named = { environments: { staging: {}, 'uat-2': {} }, sources: [{ name: 'erp' }] };

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

it.each([
  ['PO_SYNC_REDIS_URI', 'PO_SYNC_REDIS_URL'],
  ['PO_SYNC_REDIS_PASWORD_FILE', 'PO_SYNC_REDIS_PASSWORD_FILE'],
  ['PO_SYNC_ENVIROMENT', 'PO_SYNC_ENVIRONMENT'],
  ['PO_SYNC_CONF', 'PO_SYNC_CONFIG'],
  ['PO_SYNC_ADMINTOKEN', 'PO_SYNC_ADMIN_TOKEN'],
  ['PO_SYNC_STAGING_CLIENTID', 'PO_SYNC_STAGING_CLIENT_ID'],
  ['PO_SYNC_STAGING_CLIENT_IDD', 'PO_SYNC_STAGING_CLIENT_ID'],
  ['PO_SYNC_STAGING_CLIENT_ID_FLIE', 'PO_SYNC_STAGING_CLIENT_ID_FILE'],
  ['PO_SYNC_STAGING_CLIENT_SECRE', 'PO_SYNC_STAGING_CLIENT_SECRET'],
  ['PO_SYNC_UAT_2_PROXY_PASWORD_FIL', 'PO_SYNC_UAT_2_PROXY_PASSWORD_FILE'],
  ['PO_SYNC_SOURCE_ERP_AUTHORISATION', 'PO_SYNC_SOURCE_ERP_AUTHORIZATION'],
])('%s gives a warning that names %s', (name, near) => {
  expect(misspeltVariables({ [name]: 'x', PATH: '/bin' }, named)).toEqual([
    `${name} is not a known variable (did you mean ${near}?)`,
  ]);
});

it('no documented variable gives a warning, and none of another environment or program', async () => {
  const text = await readFile('docs/configuration.md', 'utf8');
  const documented = text.match(/PO_SYNC_[A-Z_]*[A-Z]/g) ?? [];
  expect(documented.length).toBeGreaterThan(20);
  const others = [
    'PO_SYNC_UAT_2_CLIENT_ID_FILE',
    'PO_SYNC_SOURCE_ERP_PASSWORD',
    'PO_SYNC_TEST_RUN',
    'PO_SYNC_STAGING_HOST',
    'SYNC_REDIS_URI',
  ];
  expect(
    misspeltVariables(
      Object.fromEntries([...documented, ...others].map((name) => [name, 'x'])),
      named,
    ),
  ).toEqual([]);
});
