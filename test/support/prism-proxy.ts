import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

const PRISM = path.resolve(import.meta.dirname, '../../node_modules/.bin/prism');

/** An independent proxy that lets through only what an OpenAPI document describes. */
export type PrismProxy = AsyncDisposable & { url: string };

/**
 * Starts Prism between clients and `upstream`. A request that the document does not describe is answered with 422,
 * and an answer that it does not describe with 500, both as `application/problem+json`.
 */
export async function startPrismProxy(document: string, upstream: string): Promise<PrismProxy> {
  // Prism cannot choose a port itself.
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [PRISM, 'proxy', document, upstream, '--errors', '--port', String(port)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const closed = once(child, 'close');
  for await (const line of createInterface(child.stdout))
    if (line.includes('Prism is listening')) break;
  child.stdout.resume();
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
