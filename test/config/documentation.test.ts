import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { configJsonSchema, keysAt } from '../../src/config/schema.ts';
import { LEAST, loadText } from '../support/config-text.ts';

const page = await readFile(
  path.resolve(import.meta.dirname, '../../docs/configuration.md'),
  'utf8',
);

/** The table of one key at the top of the file. */
const sectionOf = (key: string) =>
  page.split(/^### /m).find((section) => section.startsWith(`\`${key}\``)) ?? '';

type Key = { path: string[]; default?: unknown };

/** Every key of the schema that has a value; the keys below names and in lists have no step for those. */
function keysIn(schema: unknown, at: string[] = []): Key[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const {
    properties,
    additionalProperties,
    items,
    oneOf,
    default: standard,
  } = { ...schema } as Record<string, unknown>;
  if (typeof properties === 'object' && properties !== null) {
    return Object.entries(properties).flatMap(([key, inner]) => keysIn(inner, [...at, key]));
  }
  const below = [additionalProperties, items].find((inner) => typeof inner === 'object');
  const found = Array.isArray(oneOf)
    ? oneOf.flatMap((option) => keysIn(option, at))
    : keysIn(below, at);
  return found.length > 1 ? found : [{ path: at, default: standard }];
}

it.each(keysIn(configJsonSchema()))(
  'documents $path and its default $default',
  ({ path: [top = '', ...rest], default: standard }) => {
    const section = sectionOf(top);
    const row =
      rest.length === 0
        ? section
        : (section.split('\n').find((line) => line.startsWith(`| \`${rest.join('.')}\` |`)) ?? '');
    expect(row).not.toBe('');
    if (['string', 'number', 'boolean'].includes(typeof standard)) {
      expect(row).toContain(`\`${JSON.stringify(standard).replaceAll('"', '')}\``);
    }
  },
);

/** Columns have a table without defaults. */
it.each(keysAt(configJsonSchema(), ['mappings', 'erp', 'columns', 'EBELN']))(
  'documents the key %s of a column',
  (key) => {
    const [, columns = ''] = sectionOf('mappings').split('#### Columns');
    expect(columns).toContain(`\n| \`${key}\` |`);
  },
);

it('documents enough keys to be sure that they are found', () => {
  expect(keysIn(configJsonSchema()).length).toBeGreaterThan(45);
});

it('shows examples that are right', () => {
  const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);
  expect(examples).toHaveLength(4);
  for (const text of examples) {
    // One is only of mappings.
    const isPart = text.startsWith('mappings:');
    const loaded = loadText(
      isPart ? LEAST.replace('path: ../inbox', 'path: ../inbox, mapping: erp') + text : text,
      isPart || text.startsWith('environment:') ? {} : { environment: 'production' },
    );
    expect(loaded.ok ? loaded.warnings : loaded.problems).toEqual([]);
  }
});
