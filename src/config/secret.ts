import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { controlCharacterIn } from '../order/text.ts';
import type { Variables } from './variables.ts';

const HIDDEN = '[redacted]';

/** A text that only `reveal` returns: printing, logging, JSON and the debugger show `[redacted]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text, for the one place that needs it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** Reads a file with a secret: its text and its permissions. Rejects with the system's error. */
export type SecretReader = (file: string) => Promise<{ text: string; mode: number }>;

const MOST_BYTES = 64 * 1024;

/** Reads secret files of this machine; relative paths start at `folder`, the process's working directory. */
export function secretFilesFrom(folder: string): SecretReader {
  return async (file) => {
    // Without O_NONBLOCK, opening a FIFO would wait forever.
    await using handle = await open(
      path.resolve(folder, file),
      constants.O_RDONLY | constants.O_NONBLOCK,
    );
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > MOST_BYTES) throw new Error('it is larger than 64 KB');
    return { text: await handle.readFile('utf8'), mode: stat.mode };
  };
}

/** A secret; `warning` is set when other users can read its file. */
export type FoundSecret = { value: string; warning?: string };

const OTHERS_READ = 0o004;

/**
 * Reads the secret of the variable `NAME`, or of the file that `NAME_FILE` names; undefined when neither is set.
 * One trailing line end of the file is not part of the secret.
 * Throws PoSyncError `secret-ambiguous` when both are set, `secret-unreadable` when the file cannot be read,
 * `secret-invalid` when it is empty or contains control characters.
 */
export async function readSecret(
  name: string,
  env: Variables,
  read: SecretReader,
): Promise<FoundSecret | undefined> {
  const direct = env[name];
  const file = env[`${name}_FILE`];
  if (direct !== undefined && file !== undefined) {
    throw new PoSyncError('secret-ambiguous', `${name} and ${name}_FILE are both set.`, {
      remedy: `Keep one of them: run unset ${name}, or unset ${name}_FILE.`,
    });
  }
  if (direct !== undefined)
    return { value: sound(direct, name, `Set ${name} to its value, or unset it.`) };
  if (file === undefined) return undefined;
  if (file === '')
    throw unusable(
      `${name}_FILE`,
      'is empty',
      `Set ${name}_FILE to the path of a file, or unset it.`,
    );
  return readSecretFile(`${name}_FILE`, file, read);
}

/**
 * Reads the secret in a file. `name` is what names the file. Throws PoSyncError `secret-unreadable` or `secret-invalid` as
 * `readSecret` does.
 */
export async function readSecretFile(
  name: string,
  file: string,
  read: SecretReader,
): Promise<FoundSecret> {
  const { text, mode } = await read(file).catch((error: unknown) => {
    const reason = codeOf(error) ?? toError(error).message;
    throw new PoSyncError('secret-unreadable', `${name}: ${file} cannot be read (${reason}).`, {
      remedy: file.startsWith('~')
        ? 'Write the complete path: only a shell expands ~.'
        : 'Correct the path, or give the user that runs po-sync read permission.',
      facts: { file },
      cause: error,
    });
  });
  const where = `${name}: ${file}`;
  const value = sound(
    text.replace(/^\uFEFF/, '').replace(/\r?\n$/, ''),
    where,
    'Write only the value into this file.',
  );
  if ((mode & OTHERS_READ) === 0) return { value };
  return { value, warning: `${where} can be read by every user of this machine (chmod 600)` };
}

function sound(value: string, where: string, remedy: string): string {
  if (value === '') throw unusable(where, 'is empty', remedy);
  if (controlCharacterIn(value) !== undefined)
    throw unusable(where, 'contains a line break or a control character', remedy);
  return value;
}

function unusable(where: string, how: string, remedy: string): PoSyncError {
  return new PoSyncError('secret-invalid', `${where} ${how}.`, { remedy });
}
