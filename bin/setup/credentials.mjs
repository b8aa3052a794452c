import { randomBytes } from 'node:crypto';
import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The credentials of the sandbox as environment variables that name a file each. They are generated once and stored in
 * `folder`, readable only by this user. A variable that is already set, or its `_FILE`, takes precedence; a secret in a
 * variable is not among them.
 */
export async function sandboxCredentials(folder, env = process.env) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    ...(await kept(
      'PO_SYNC_SANDBOX_CLIENT_ID',
      path.join(folder, 'client-id'),
      () => 'sandbox-client',
      env,
    )),
    ...(await kept(
      'PO_SYNC_SANDBOX_CLIENT_SECRET',
      path.join(folder, 'client-secret'),
      drawSecret,
      env,
    )),
  };
}

/**
 * Writes a file that sets `PO_SYNC_CONFIG` and the variables for a shell, so that a second terminal reaches the daemon of
 * `npm start`. The variables name files, so it contains no secret.
 */
export async function writeShellFile(file, variables) {
  const lines = Object.entries(variables).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`,
  );
  await writeFile(`${file}.tmp`, lines.join(''), { mode: 0o600 });
  await rename(`${file}.tmp`, file);
}

function drawSecret() {
  return randomBytes(24).toString('hex');
}

async function kept(name, file, make, env) {
  const own = env[`${name}_FILE`];
  if (env[name] !== undefined) return {};
  if (own !== undefined) return { [`${name}_FILE`]: own };
  if (!(await exists(file))) {
    // Atomically: the process can be killed here.
    await writeFile(`${file}.tmp`, `${make()}\n`, { mode: 0o600 });
    await rename(`${file}.tmp`, file);
  }
  return { [`${name}_FILE`]: file };
}

async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  );
}
