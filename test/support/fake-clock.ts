import { execFile } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** The wall clock of processes that run with `env`. Their monotonic clock stays as it is. */
export type FakeClock = {
  env: Record<string, string>;
  /** Sets the clock so many seconds ahead of the true time; negative: behind it. */
  set(seconds: number): Promise<void>;
};

/** Builds a clock that is right at first. Needs a C compiler (Debian: `gcc`, `libc6-dev`). */
export async function createFakeClock(folder: string): Promise<FakeClock> {
  const [library, file] = [path.join(folder, 'fake-clock.so'), path.join(folder, 'fake-clock')];
  const source = path.join(import.meta.dirname, 'fake-clock.c');
  await promisify(execFile)('cc', ['-O2', '-shared', '-fPIC', '-o', library, source]);
  const set = async (seconds: number) => {
    await writeFile(`${file}.new`, String(seconds));
    await rename(`${file}.new`, file);
  };
  await set(0);
  return { env: { LD_PRELOAD: library, FAKE_CLOCK_FILE: file }, set };
}
