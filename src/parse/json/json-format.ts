import type { Format } from '../format.ts';
import { createObjectPages } from '../objects.ts';
import { inspectJson } from './inspect-json.ts';
import { createJsonParser } from './json-records.ts';

/** JSON and NDJSON: orders with items, or flat rows. */
export const jsonFormat: Format<'json'> = {
  sniff: (start) => /^\s*[[{]/.test(start),

  async inspect(file, mapping, originals) {
    const found = await inspectJson(file.text(), file.size, mapping, originals);
    const type = found.reading.layout.kind === 'sequence' ? 'ndjson' : 'json';
    return { ...found, shape: { format: { type } } };
  },

  async *read(file, { layout, originals }, mapping) {
    const parser = createJsonParser(layout);
    const pageOf = createObjectPages(mapping, originals);
    for await (const chunk of file.text()) yield pageOf(parser.write(chunk));
    yield pageOf(parser.end());
  },
};
