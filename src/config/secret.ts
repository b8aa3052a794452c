import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { controlCharacterIn } from '../order/text.ts';
import { type Variables, variable } from './variables.ts';

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

/** Reads the text of a file with a secret. Rejects with the system's error. */
export type SecretReader = (file: string) => Promise<string>;

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
    return handle.readFile('utf8');
  };
}

/**
 * Reads the secret of the variable `NAME`, or of the file that `NAME_FILE` names; undefined when neither is set.
 * Throws PoSyncError `secret-ambiguous` when both are set, `secret-invalid` when it contains control characters, or one of
 * `readSecretFile`.
 */
export async function readSecret(
  name: string,
  env: Variables,
  read: SecretReader,
): Promise<string | undefined> {
  const direct = variable(env, name);
  const file = variable(env, `${name}_FILE`);
  if (direct === undefined)
    return file === undefined ? undefined : readSecretFile(`${name}_FILE`, file, read);
  if (file === undefined) return sound(direct, name, `Set ${name} to its value, or unset it.`);
  throw new PoSyncError('secret-ambiguous', `${name} and ${name}_FILE are both set.`, {
    remedy: `Keep one of them: run unset ${name}, or unset ${name}_FILE.`,
  });
}

/**
 * Reads the secret in a file, without one line end after it. `name` is what names the file. Throws PoSyncError
 * `secret-unreadable`, or `secret-invalid` when it is empty or contains control characters.
 */
export async function readSecretFile(
  name: string,
  file: string,
  read: SecretReader,
): Promise<string> {
  const text = await read(file).catch((error: unknown) => {
    const reason = codeOf(error) ?? toError(error).message;
    throw new PoSyncError('secret-unreadable', `${name}: ${file} cannot be read (${reason}).`, {
      remedy: file.startsWith('~')
        ? 'Write the complete path: only a shell expands ~.'
        : 'Correct the path, or give the user that runs po-sync read permission.',
      facts: { file },
      cause: error,
    });
  });
  const value = text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
  return sound(value, `${name}: ${file}`, 'Write only the value into this file.');
}

function sound(value: string, where: string, remedy: string): string {
  if (value !== '' && controlCharacterIn(value) === undefined) return value;
  const how = value === '' ? 'is empty' : 'contains a line break or a control character';
  throw new PoSyncError('secret-invalid', `${where} ${how}.`, { remedy });
}
