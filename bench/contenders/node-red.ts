import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../test/support/free-port.ts';
import type { Api } from '../api/start-api.ts';
import { cpuOf } from '../process-figures.ts';
import type { Contender } from './contender.ts';
import { dropInto } from './drop-into.ts';
import { nodeRedFlow } from './node-red-flow.ts';

/** Node-RED, installed separately in `home` (the folder with its `node_modules`), with a flow for order files. */
export async function startNodeRed(home: string, folder: string, api: Api): Promise<Contender> {
  const inbox = path.join(folder, 'inbox');
  await mkdir(inbox);
  await writeFile(path.join(folder, 'flows.json'), JSON.stringify(nodeRedFlow(inbox, api.origin)));
  await writeFile(path.join(folder, 'settings.js'), settings(await freePort()));
  const child = await launch(home, folder);
  const ended = once(child, 'exit');
  const { pid = 0 } = child;
  return {
    async deliver(file) {
      const cpu = cpuOf(pid);
      const dropped = await dropInto({ folder, inbox }, file);
      await api.reached();
      return { milliseconds: Date.now() - dropped, cpu: cpuOf(pid) - cpu };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function launch(home: string, folder: string): Promise<ChildProcess> {
  await using log = await open(path.join(folder, 'node-red.log'), 'a');
  const red = path.join(home, 'node_modules/node-red/red.js');
  const args = [
    red,
    '--userDir',
    folder,
    '--settings',
    path.join(folder, 'settings.js'),
    'flows.json',
  ];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', log.fd] });
  const { stdout } = child;
  if (stdout === null) throw new Error('no standard output');
  for await (const line of createInterface(stdout)) if (line.includes('Started flows')) break;
  stdout.resume();
  if (child.exitCode !== null)
    throw new Error(`Node-RED of ${home} ended; see ${folder}/node-red.log`);
  return child;
}

/** No editor, no telemetry. */
function settings(port: number): string {
  return `module.exports = {
  uiHost: '127.0.0.1', uiPort: ${port}, httpAdminRoot: false, httpNodeRoot: false, flowFile: 'flows.json',
  credentialSecret: 'bench', telemetry: { enabled: false }, diagnostics: { enabled: false },
  runtimeState: { enabled: false }, externalModules: { palette: { allowInstall: false } },
};
`;
}
