import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { LEAST, loadText } from '../support/config-text.ts';

const DOCS = path.resolve(import.meta.dirname, '../../docs');

it('the pages about files and the configuration show examples that are right', async () => {
  const pages = ['configuration.md', 'files.md', 'quick-start.md'].map((name) =>
    readFile(path.join(DOCS, name), 'utf8'),
  );
  const examples = [...(await Promise.all(pages)).join('').matchAll(/^```yaml\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  expect(examples).toHaveLength(4);
  for (const text of examples) {
    // Some are only of a mapping.
    const [, mapping] = /^mappings:\n {2}(\w+):/.exec(text) ?? [];
    const loaded = loadText(
      mapping
        ? LEAST.replace('path: ../inbox', `path: ../inbox, mapping: ${mapping}`) + text
        : text,
      mapping || text.startsWith('environment:') ? {} : { environment: 'production' },
    );
    expect(loaded.ok ? loaded.warnings : loaded.problems).toEqual([]);
  }
});
