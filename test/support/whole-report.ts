import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

/** The files of a report's folder that have their final name; throws when one of them is not complete. */
export async function wholeFilesOf(folder: string, orders: number): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) {
    const text = await readFile(join(folder, name), 'utf8');
    if (!isWhole(name, text, orders))
      throw new Error(`${join(folder, name)} is not whole: ${text.length} characters`);
  }
  return names;
}

function isWhole(name: string, text: string, orders: number): boolean {
  const dead = Math.floor(orders / 2);
  switch (name) {
    case 'results.csv':
      return text.endsWith('\n') && parse(text).length === orders + 1;
    case 'dead-letters.json':
      return JSON.parse(text).length === dead;
    case 'report.json':
      return JSON.parse(text).counts.orders === orders;
    case 'report.html':
      return text.endsWith('</html>\n');
    case 'fix.xlsx':
      // The end-of-central-directory record is the last part of a zip archive.
      return text.includes('PK\x05\x06');
    default:
      return false;
  }
}
