import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file to which the tests of a suite append rows as JSON lines; `print` receives all of them once the last has ended. */
export async function openRowFile<Row>(
  print: (rows: Row[]) => void,
): Promise<{ file: string; close(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-rows-'));
  const file = path.join(folder, 'rows.ndjson');
  return {
    file,
    async close() {
      const text = await readFile(file, 'utf8').catch(() => '');
      const rows = text
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
      if (rows.length > 0) print(rows);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
