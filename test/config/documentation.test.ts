import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { LEAST, loadText } from '../support/config-text.ts';

const DOCS = path.resolve(import.meta.dirname, '../../docs');

it('configuration.md and files.md show examples that are right', async () => {
  const pages = ['configuration.md', 'files.md'].map((name) =>
    readFile(path.join(DOCS, name), 'utf8'),
  );
  const examples = [...(await Promise.all(pages)).join('').matchAll(/^```yaml\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  expect(examples).toHaveLength(3);
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
