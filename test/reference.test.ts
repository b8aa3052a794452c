import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { referencePages } from '../.ci/reference.ts';

const FOLDER = path.resolve(import.meta.dirname, '../docs/reference');

it.each(Object.entries(referencePages()))(
  'docs/reference/%s is what the code says (`npm run docs` writes it)',
  (name, text) => {
    expect(text.split('\n').filter((line) => line.startsWith('| `')).length).toBeGreaterThan(20);
    expect(readFileSync(path.join(FOLDER, name), 'utf8')).toBe(text);
  },
);
