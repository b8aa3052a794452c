import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** What these tests need on the machine, and its Debian package. */
const PACKAGES = { soffice: 'libreoffice-calc-nogui', chromium: 'chromium' } as const;

/** The path of a desktop program. These tests run on request only, so a missing program fails them. */
export function programOf(name: keyof typeof PACKAGES): string {
  const places = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name));
  const found = places.find(isProgram);
  if (found !== undefined) return found;
  throw new Error(
    `These tests need ${name}, which is not installed: apt-get install ${PACKAGES[name]}`,
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
