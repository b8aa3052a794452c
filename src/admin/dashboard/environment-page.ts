import { showConfig } from '../../config/show.ts';
import { duration } from '../../core/format.ts';
import { html, timeText } from '../../report/page/html.ts';
import { readActions } from '../api/acts.ts';
import type { Content, PageRequest } from './frame.ts';
import { switchForm } from './overview-page.ts';
import { cell, facts, nextLink, table } from './parts.ts';

/** The environment: daemons, token, pausing, what operators did, and the resolved configuration. */
export async function environmentPage({ api, url, mayOperate, back, confirm }: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const { config, store } = api.base;
  const actions = await readActions(store, 20, url.searchParams.get('after') ?? undefined);
  const daemons = status.daemons.map(({ host, pid, version, since }) => [
    html`${host}`,
    cell(pid),
    html`${version}`,
    html`${duration(status.now - since)}`,
  ]);
  const acts = actions.items.map(({ at, who, what, on, result }) => [
    timeText(at),
    html`${who}`,
    html`${what}`,
    html`${on}`,
    html`${result}`,
  ]);
  // Line by line, because a line feed within a text is shown as an escape.
  const lines = showConfig(config)
    .split('\n')
    .map((line) => html`${line}\n`);
  const body = html`<h1>${status.environment}</h1>
${facts([
  ['API', html`<code>${status.baseUrl}</code>`],
  ['Redis', status.redis.private ? 'private' : 'configured'],
  ['token', status.token.present ? `valid for ${duration(status.token.expiresInMs ?? 0)}` : 'requested when needed'],
  ['delivery', status.pauses.length === 0 ? 'running' : status.pauses.map(({ reason }) => reason).join('; ')],
])}
${mayOperate ? switchForm(status, back, confirm) : undefined}
<h2>Daemons</h2>
${daemons.length === 0 ? html`<p>None is running.</p>` : table('Daemons', ['host', 'process', 'version', 'running for'], daemons)}
<h2>What operators did here</h2>
${acts.length === 0 ? html`<p>Nothing yet.</p>` : table('Actions', ['at', 'who', 'what', 'on', 'result'], acts)}
${nextLink(url, actions.next)}
<h2>Configuration</h2>
<p><code>${config.file}</code>, secrets redacted</p>
<pre tabindex="0">${lines}</pre>`;
  return { title: 'Environment', body };
}
