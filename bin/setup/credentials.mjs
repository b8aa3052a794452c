import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The credentials of the sandbox as environment variables: those that are set already, else those made up once
 * and kept in `folder`, for our eyes only.
 */
export async function sandboxCredentials(folder, env = process.env) {
  const { PO_SYNC_SANDBOX_CLIENT_ID: id, PO_SYNC_SANDBOX_CLIENT_SECRET: secret } = env;
  if (id && secret) return { PO_SYNC_SANDBOX_CLIENT_ID: id, PO_SYNC_SANDBOX_CLIENT_SECRET: secret };
  const file = path.join(folder, 'credentials.json');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = (await read(file)) ?? (await make(file));
  return { PO_SYNC_SANDBOX_CLIENT_ID: kept.clientId, PO_SYNC_SANDBOX_CLIENT_SECRET: kept.clientSecret };
}

async function make(file) {
  const made = { clientId: 'sandbox-client', clientSecret: randomBytes(24).toString('hex') };
  await writeFile(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  return made;
}

async function read(file) {
  try {
    const { clientId, clientSecret } = JSON.parse(await readFile(file, 'utf8'));
    return clientId && clientSecret ? { clientId, clientSecret } : undefined;
  } catch {
    return undefined;
  }
}
