import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { makePath, PRIVATE_FOLDER } from '../core/folder.ts';
import { readJsonIfExists, writeWhole } from '../core/regular-file.ts';
import type { Store } from '../redis/store.ts';

/**
 * The id of the ledger, the same for every daemon on one Redis. It outlives a Redis that forgets: a file in `folder` keeps
 * it. A host whose file names another ledger follows Redis.
 */
export async function ledgerIdOf(
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
  folder: string,
): Promise<string> {
  const file = path.join(folder, 'id.json');
  const kept = await readId(file);
  await redis.hsetnx(keys.identity, 'ledger', kept ?? randomUUID());
  const id = (await redis.hget(keys.identity, 'ledger')) ?? kept ?? '';
  if (id !== kept) {
    await makePath(folder, PRIVATE_FOLDER);
    await writeWhole(file, JSON.stringify({ ledger: id }));
  }
  return id;
}

/** The id of the ledger, without giving it one; empty before the first start. */
export async function knownLedger(
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
  folder: string,
): Promise<string> {
  return (
    (await redis.hget(keys.identity, 'ledger')) ??
    (await readId(path.join(folder, 'id.json'))) ??
    ''
  );
}

/** Writes the id again where Redis lost it. */
export async function keepLedgerId(
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
  id: string,
): Promise<void> {
  await redis.hsetnx(keys.identity, 'ledger', id);
}

async function readId(file: string): Promise<string | undefined> {
  const value: unknown = await readJsonIfExists(file).catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error;
  });
  return typeof value === 'object' && value !== null && 'ledger' in value
    ? String(value.ledger)
    : undefined;
}
