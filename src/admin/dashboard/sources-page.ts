import { type Config, mappingsFor, type Source } from '../../config/config.ts';
import { count, counted, duration } from '../../core/format.ts';
import { ignoredRemedy, ignoredText } from '../../intake/folders.ts';
import {
  inboxTrouble,
  type SourceStatus,
  silenceText,
  waitingTexts,
} from '../../operate/delivery/source-status.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { Content, PageRequest } from './frame.ts';
import { agoText, badge, batchPath, facts, link, table } from './parts.ts';

/** Every source: where its files come from, when the last one came, and how their columns become fields of an order. */
export async function sourcesPage({ api }: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const { config } = api.base;
  const parts = status.sources.map((one) => {
    const source = config.sources.find(({ name }) => name === one.name);
    return source && sourcePart(one, source, config, status.now);
  });
  const body = html`<h1>Sources</h1>${parts.map((part) => part ?? html``)}`;
  return { title: 'Sources', body };
}

function sourcePart(status: SourceStatus, source: Source, config: Config, now: number): Html {
  const { name, type, path, last, ignored, heardAt } = status;
  const { expectEvery } = source;
  return html`<h2 id="${name}">${name}</h2>
${facts([
  ['type', type === 'inbox' ? 'inbox: files are taken' : 'export: read, never changed'],
  ['path', html`<code>${path}</code>`],
  ['state', stateOf(status)],
  ['not read', ignored && html`${badge('bad', ignoredText(ignored))} ${ignoredRemedy(ignored)}`],
  ['in the inbox', waitingPart(status)],
  [
    'last readable file',
    last && html`${link(batchPath(last.batch), last.file)}, ${agoText(last.at, now)}`,
  ],
  ['last written', heardAt === undefined ? undefined : agoText(heardAt, now)],
  [
    'expects a file every',
    expectEvery === undefined
      ? undefined
      : html`${duration(expectEvery)}${silenceBadge(status, now)}`,
  ],
  ['stable for', shortText(source.stable)],
  ['polled every', shortText(source.poll)],
  ['waits for', source.doneFile ? 'FILE.done' : undefined],
  [
    'reads',
    source.type === 'export' && source.newestOnly
      ? 'only the newest file of the pattern'
      : undefined,
  ],
  ['answers to', source.answers && html`<code>${source.answers}</code>`],
  ['batches', link(`/batches?source=${encodeURIComponent(name)}`, 'all of this source')],
])}
${mappingPart(source, config)}`;
}

/** That a source is silent and since when, as `status` says it; empty for any other source. */
export function silenceBadge(status: SourceStatus, now: number): Html {
  const text = silenceText(status, now);
  return text === undefined ? html`` : html` ${badge('bad', text)}`;
}

function waitingPart(status: SourceStatus): Html | undefined {
  const { waiting = 0 } = status;
  if (waiting === 0) return undefined;
  const files = waitingTexts(status).map((text) => html`<li>${text}</li>`);
  return html`${counted(waiting, 'file')} not taken yet<ul>${files}</ul>`;
}

function shortText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : duration(ms);
}

function stateOf(status: SourceStatus): Html {
  const { state } = status;
  if (state === 'ok') return badge('good', 'ok');
  if (state === 'not checked') return html`an address; the daemon reports when it is missing`;
  if (state === 'no match') return html`no file matches`;
  if (state === 'missing' && status.type === 'export')
    return html`${badge('bad', state)} po-sync waits until it is there; check the path and the program that writes it`;
  return html`${badge('bad', stateText(status))} ${inboxTrouble(status)}`;
}

/** The state of a source, with the code of the error if there is one. */
export function stateText({ state, code }: SourceStatus): string {
  return code === undefined ? state : `${state} (${code})`;
}

/** What its files are read as: what each column is, and how they are written. */
function mappingPart({ name }: Source, config: Config): Html {
  const parts = mappingsFor(config, name).map(
    ({ name: key, mapping: { columns, ...settings } }) => {
      const rows = Object.entries(columns).map(([column, keys]) => [
        html`${column}`,
        html`${valueText(keys)}`,
      ]);
      const others = Object.entries(settings).filter(
        ([, value]) => !(Array.isArray(value) && value.length === 0),
      );
      return html`<h3>Mapping ${key}</h3>
${table(`Mapping ${key} of ${name}`, ['column', 'is'], rows)}
<details><summary>How its files are read</summary>${facts(others.map(([setting, value]) => [setting, valueText(value)]))}</details>`;
    },
  );
  return html`${parts.length === 0 ? html`<h3>Mapping (none: the names of the API)</h3>` : parts}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return count(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
