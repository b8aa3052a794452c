import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { openOddApi } from '../support/odd-api.ts';
import { startProgram } from '../support/program.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import type { Story } from './stories.ts';

/** Runs the story with the checkout in `root`; what can be seen of it, one line a fact, without times. */
export async function factsOf(root: string, story: Story, redis: string): Promise<Set<string>> {
  const facts = new Set<string>();
  await using api = await openOddApi((call, opened) => {
    if (call.order !== undefined) facts.add(`the API gets ${JSON.stringify(call.order)}`);
    return story.api?.(call, opened);
  });
  await using folder = await makeTempFolder();
  const [config, inbox] = ['po-sync.yaml', 'inbox'].map((name) => path.join(folder.path, name)) as [
    string,
    string,
  ];
  await mkdir(inbox);
  await writeFile(config, configOf(story, api.url, redis));
  for (const [nth, files] of story.drops.entries()) {
    if (story.isLost && nth === story.drops.length - 1) await flush(redis);
    for (const [name, content] of Object.entries(files))
      await writeFile(path.join(inbox, name), content);
    const { code } = await startProgram(
      ['--config', config, 'start', '--once', '--max-wait', '10m'],
      { cwd: folder.path, env: CREDENTIALS, launcher: path.join(root, 'bin/po-sync') },
    ).ended;
    facts.add(`run ${nth + 1} ends with ${code}`);
  }
  for (const { report, results } of await settledBatches(path.join(folder.path, 'reports'))) {
    facts.add(`${report.file} is ${report.state}`);
    for (const { purchaseOrderNumber, outcome, code } of results)
      facts.add(`${report.file}: ${purchaseOrderNumber} is ${outcome} (${code})`);
  }
  const times = Map.groupBy(api.stored, (order) => order.purchaseOrderNumber);
  for (const [number, orders] of times) facts.add(`${number} is created ${orders.length} times`);
  return facts;
}

const CREDENTIALS = {
  PO_SYNC_STAGING_CLIENT_ID: 'client',
  PO_SYNC_STAGING_CLIENT_SECRET: 'secret-of-the-comparison',
};

function configOf({ mapping }: Story, url: string, redis: string): string {
  const uses = mapping === undefined ? '' : `, mapping: ${mapping.name}`;
  return `environment: staging
data: data
redis: { url: '${redis}' }
environments:
  staging: { baseUrl: '${url}/api/v1', authUrl: '${url}', list: trust }
sources:
  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms${uses} }
reports: { path: reports }
delivery: { settle: 1s, timeout: 5s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 200ms, max: 1s } }
admin: { port: 0 }
${mapping?.text ?? ''}`;
}

async function flush(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushdb();
  redis.disconnect();
}
