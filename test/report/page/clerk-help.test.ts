import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CLERK_HELP } from '../../../src/report/page/html.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/for-clerks.md'), 'utf8');

it('docs/for-clerks.md has the ten sentences of the report page', () => {
  const sentences = [...page.matchAll(/^\d+\. (.*)$/gm)].map(([, text = '']) =>
    text.replaceAll('`', ''),
  );
  expect(sentences).toEqual(CLERK_HELP);
  expect(sentences).toHaveLength(10);
});

it('docs/for-clerks.md says what is recorded of a discard, and that its reason is not', () => {
  const [, part = ''] = /\n## An order is not wanted\n([\s\S]*?)\n## /.exec(page) ?? [];
  expect(part.replace(/\s+/g, ' ')).toContain(
    'po-sync records who discarded an order and when, and has no field for the reason: keep it where your team keeps such notes',
  );
});
