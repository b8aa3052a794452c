import { type Config, mappingsFor, type Source } from '../../config/config.ts';
import { type Html, html } from '../../report/page/html.ts';
import { statusSources } from '../../views/status.ts';
import type { Content, PageRequest } from './frame.ts';
import { link, table } from './parts.ts';
import { viewPart } from './view-part.ts';

/** Every source: where its files come from, when the last one came, and how their columns become fields of an order. */
export async function sourcesPage({ api }: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const { config } = api.base;
  const parts = config.sources.map((source) => sourcePart(source, config));
  const body = html`<h1>Sources</h1>${viewPart(statusSources(status), 'Sources')}${parts}`;
  return { title: 'Sources', body };
}

/** What its files are read as; how they are written is in the configuration. */
function sourcePart({ name }: Source, config: Config): Html {
  const mappings = mappingsFor(config, name).map(({ name: key, mapping: { columns } }) => {
    const rows = Object.entries(columns).map(([column, keys]) => [
      html`${column}`,
      html`${typeof keys === 'string' ? keys : JSON.stringify(keys)}`,
    ]);
    return html`<h3>Mapping ${key}</h3>
${table(`Mapping ${key} of ${name}`, ['column', 'is'], rows)}`;
  });
  return html`<h2 id="${name}">${name}</h2>
<p>${link(`/batches?source=${encodeURIComponent(name)}`, 'Its batches')}</p>
${mappings.length === 0 ? html`<h3>Mapping (none: the names of the API)</h3>` : mappings}`;
}
