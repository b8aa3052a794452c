import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { inspectFile, readOrderPages } from '../../src/mapping/read-file.ts';

const folder = path.resolve(import.meta.dirname, '../../config');
const load = async (name: string, environment?: string) => {
  const file = path.join(folder, name);
  const text = await readFile(file, 'utf8');
  const loaded = loadConfig({
    text,
    file,
    env: {},
    ...(environment === undefined ? {} : { environment }),
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 2));
  return loaded;
};

/** The reference with every key that it shows as not set. */
function withAllKeys(text: string): string {
  return text.replace(/^(\s*)#(?=[^\s#])/gm, '$1');
}

it('the starter has ten lines and works without a warning', async () => {
  const text = await readFile(path.join(folder, 'po-sync.starter.yaml'), 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(10);
  const { config, warnings } = await load('po-sync.starter.yaml');
  expect(config.sources).toMatchObject([
    { name: 'inbox', path: path.join(path.dirname(folder), 'inbox') },
  ]);
  expect(warnings).toEqual([]);
});

it.each(['staging', 'uat', 'production'])(
  'the reference is valid for %s, without a warning',
  async (environment) => {
    const { config, warnings } = await load('po-sync.example.yaml', environment);
    expect(Object.keys(config.environments)).toEqual(['staging', 'uat', 'production']);
    expect(config.environments['production']?.protected).toBe(true);
    expect(warnings).toEqual([]);
  },
);

it('the reference sets only defaults, except for its environments', async () => {
  const { config } = await load('po-sync.example.yaml');
  const { config: starter } = await load('po-sync.starter.yaml');
  const { environments, file: _reference, ...others } = config;
  const { environments: first, file: _starter, ...defaults } = starter;
  expect(others).toEqual(defaults);
  expect(environments['staging']).toEqual(first['staging']);
});

it('the keys that the reference shows as not set are valid, and those with a default show it', async () => {
  const file = path.join(folder, 'po-sync.example.yaml');
  const loaded = loadConfig({ text: withAllKeys(await readFile(file, 'utf8')), file, env: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 2));
  expect(loaded.config.redis.url).toBeDefined();
  expect(loaded.config.sources.map(({ name }) => name)).toEqual(['inbox', 'erp']);
  expect(Object.keys(loaded.config.mappings)).toEqual(['erp', 'book', 'shop', 'host']);
  expect(loaded.config.notify).toHaveLength(2);
});

it.each(['orders.csv', 'orders.json'])(
  'the sample %s has only the names of the API, so that it needs no mapping',
  async (sample) => {
    const file = path.join(folder, 'samples', sample);
    const inspection = await inspectFile(file, []);
    expect(inspection.state).toBe('ready');
    const held: string[] = [];
    for await (const page of readOrderPages(file, inspection))
      held.push(...page.flatMap((one) => ('problems' in one ? one.number : [])));
    expect(held).toEqual(sample === 'orders.csv' ? ['PO-2026-0104'] : []);
  },
);

/** Every name of a key that a schema knows, at any depth. */
function keyNamesOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keyNamesOf);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([word, inner]) =>
    word === 'properties'
      ? [...Object.keys(inner), ...Object.values(inner).flatMap(keyNamesOf)]
      : keyNamesOf(inner),
  );
}

it('the example names every key of the schema', async () => {
  const text = await readFile(path.join(folder, 'po-sync.example.yaml'), 'utf8');
  const keys = new Set(keyNamesOf(configJsonSchema()));
  expect(keys.size).toBeGreaterThan(50);
  expect([...keys].filter((key) => !new RegExp(`\\b${key}\\b`).test(text))).toEqual([]);
});

it('the sandbox configuration stays on this machine', async () => {
  const { config, warnings } = await load('sandbox.yaml');
  const root = path.dirname(folder);
  expect(config).toMatchObject({
    environment: 'sandbox',
    data: path.join(root, 'data'),
    redis: {},
    environments: {
      sandbox: { baseUrl: 'http://127.0.0.1:4010/api/v1', authUrl: 'http://127.0.0.1:4011' },
    },
    sources: [
      { name: 'inbox', type: 'inbox', path: path.join(root, 'inbox'), stable: 1_000, poll: 2_000 },
    ],
    reports: { path: path.join(root, 'reports') },
    delivery: { settle: 5_000 },
    admin: { host: '127.0.0.1', port: 9464 },
  });
  expect(warnings).toEqual([]);
});

it('the JSON Schema for editors is the current one (bin/po-sync config schema > config/po-sync.schema.json)', async () => {
  const written: unknown = JSON.parse(
    await readFile(path.join(folder, 'po-sync.schema.json'), 'utf8'),
  );
  expect(written).toEqual(configJsonSchema());
});

it.each(['po-sync.example.yaml', 'sandbox.yaml'])(
  '%s names the schema for editors',
  async (name) => {
    const text = await readFile(path.join(folder, name), 'utf8');
    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/po-sync\.schema\.json\n/);
  },
);
