import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { type Variables, variable } from './variables.ts';

/** The default file, below the working folder or the program's folder. */
const USUAL = path.join('config', 'po-sync.yaml');
const MOST_BYTES = 1024 * 1024;
const OTHERS_WRITE = 0o002;

export type ConfigFile = { text: string; file: string; warnings: string[] };

/** Where to look: the flag, the variables, and the two folders that can contain the default file. */
export type ConfigPlace = { flag: string | undefined; env: Variables; cwd: string; programRoot: string };

/**
 * Finds and reads the configuration file: `--config`, else `PO_SYNC_CONFIG`, else `config/po-sync.yaml` below the
 * working folder, else that of the program.
 * Throws PoSyncError `config-missing` or `config-unreadable`.
 */
export async function readConfigFile({ flag, env, cwd, programRoot }: ConfigPlace): Promise<ConfigFile> {
  const named = flag ?? variable(env, 'PO_SYNC_CONFIG');
  if (named !== undefined) return read(path.resolve(cwd, named));
  const here = path.join(cwd, USUAL);
  try {
    return await read(here);
  } catch (error) {
    const own = path.join(programRoot, USUAL);
    if (codeOf(error) !== 'config-missing' || own === here) throw error;
    return await read(own).catch((second: unknown) => {
      throw codeOf(second) === 'config-missing' ? error : second;
    });
  }
}

async function read(file: string): Promise<ConfigFile> {
  try {
    // Without O_NONBLOCK, opening a FIFO would wait forever.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return { file, ...(await readHandle(handle, file)) };
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? missing(file) : unreadable(file, error);
  }
}

async function readHandle(handle: FileHandle, file: string): Promise<{ text: string; warnings: string[] }> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new Error('it is not a file');
  if (stat.size > MOST_BYTES) throw new Error('it is larger than 1 MB');
  const open = (stat.mode & OTHERS_WRITE) !== 0;
  const warnings = open ? [`${file} can be written by every user of this machine (chmod o-w)`] : [];
  return { text: new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile()), warnings };
}

function missing(file: string): PoSyncError {
  return new PoSyncError('config-missing', `there is no configuration file ${file}.`, {
    remedy: 'Copy config/po-sync.starter.yaml there and adapt it, or set another file with --config or PO_SYNC_CONFIG.',
    facts: { file },
  });
}

function unreadable(file: string, cause: unknown): PoSyncError {
  const encoding = codeOf(cause) === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  const reason = encoding ? 'it is not UTF-8' : (codeOf(cause) ?? toError(cause).message);
  return new PoSyncError('config-unreadable', `the configuration file ${file} cannot be read (${reason}).`, {
    facts: { file },
    cause,
  });
}
