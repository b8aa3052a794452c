import { type Config, mappingsFor, type Source } from '../../config/config.ts';
import { count, duration } from '../../core/format.ts';
import { type Html, html } from '../../report/page/html.ts';
import { statusSources } from '../../views/status.ts';
import type { Content, PageRequest } from './frame.ts';
import { facts, link, table } from './parts.ts';
import { viewPart } from './view-part.ts';

/** Every source: where its files come from, when the last one came, and how their columns become fields of an order. */
export async function sourcesPage({ api }: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const { config } = api.base;
  const parts = config.sources.map((source) => sourcePart(source, config));
  const body = html`<h1>Sources</h1>${viewPart(statusSources(status), 'Sources')}${parts}`;
  return { title: 'Sources', body };
}

function sourcePart(source: Source, config: Config): Html {
  const { name, expectEvery } = source;
  return html`<h2 id="${name}">${name}</h2>
${facts([
  ['expects a file every', expectEvery === undefined ? undefined : duration(expectEvery)],
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

function shortText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : duration(ms);
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
