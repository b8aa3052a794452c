import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration } from '../../src/config/fields.ts';
import { redactedConfig, showConfig } from '../../src/config/show.ts';
import { CONFIG_FILE, configOf, LEAST } from '../support/config-text.ts';
import { anyMapping } from './any-mapping.ts';

it.each(['po-sync.example.yaml', 'sandbox.yaml'])(
  'what is shown of %s is a configuration that says the same',
  async (name) => {
    const text = await readFile(path.resolve(import.meta.dirname, '../../config', name), 'utf8');
    const { config } = configOf(
      text.replace(/webhook:.*/, 'webhook: https://hooks.example.com/[redacted]'),
    );
    expect(configOf(showConfig(config)).config).toEqual(config);
  },
);

it('the output resolves to the same configuration, for any values', () => {
  const wait = fc.integer({ min: 10, max: 600_000 }).map(formatDuration);
  const delivery = fc.record(
    {
      concurrency: fc.integer({ min: 1, max: 1000 }),
      timeout: wait,
      settle: wait,
      readList: fc.constantFrom('newLedger', '5m'),
      refusalHold: fc.record({
        share: fc.integer({ min: 1, max: 100_000 }).map((it) => `${it / 1000}%`),
      }),
    },
    { requiredKeys: [] },
  );
  const environments = {
    staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' },
  };
  const sources = [{ name: 'inbox', type: 'inbox', path: '../inbox' }];
  fc.assert(
    fc.property(delivery, anyMapping, (delivery, erp) => {
      const given = { environment: 'staging', environments, sources, delivery, mappings: { erp } };
      const { config } = configOf(JSON.stringify(given));
      expect(configOf(showConfig(config)).config).toEqual(config);
    }),
    { numRuns: 100 },
  );
});

it('hides passwords and addresses that grant access', () => {
  const { config } =
    configOf(`${LEAST.replace("example.com' }", "example.com', headers: { X-Key: canary, X-File: { file: /etc/key } } }")}  - { name: erp, type: export, path: 'https://erp.example.com/o.csv?key=canary' }
redis: { url: 'redis://user:canary@127.0.0.1:6379/3' }
notify: [{ on: [paused], webhook: 'https://hooks.example.com/services/canary?canary' }]
`);
  for (const shown of [showConfig(config), JSON.stringify(redactedConfig(config))]) {
    expect(shown).not.toContain('canary');
    expect(shown).toContain('redis://[redacted]@127.0.0.1:6379/3');
    expect(shown).toContain('https://hooks.example.com/[redacted]');
    expect(shown).toMatch(/X-Key"?: ?"\[redacted\]"/);
    expect(shown).toContain('/etc/key');
    expect(shown).toContain('https://erp.example.com/o.csv?[redacted]');
  }
  expect(redactedConfig(config).file).toBe(CONFIG_FILE);
});
