import { PoSyncError } from '../../core/errors.ts';
import { count, counted } from '../../core/format.ts';
import type { OrderToSend, UploadPreview } from '../../operate/uploads/preview-upload.ts';
import { formatText } from '../../order/batch.ts';
import { asShown } from '../../order/text.ts';
import { type Html, html } from '../../report/page/html.ts';
import { mapFiles } from '../../setup/map-files.ts';
import { DECLARE, printProposals, printUndeclared } from '../../setup/print.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import { NUMBER_TAKEN, problemText } from '../../wording/problem.ts';
import { MOST_KEPT, type Upload } from '../api/uploads.ts';
import type { Content, PageRequest } from './frame.ts';
import { actForm, cell, facts, link, orderPath, table } from './parts.ts';

/** Why a file was not taken, and a mapping for one that could not be read. */
type Refused = { trouble: string; proposal?: string | undefined };

/** The page on which a file is chosen. */
export async function uploadPage(
  { api, mayOperate }: PageRequest,
  refused?: Refused,
): Promise<Content> {
  const sources = api.base.config.sources.map(({ name }) => html`<option>${name}</option>`);
  const form = html`<form method="post" action="/upload" enctype="multipart/form-data" class="narrow">
<label for="source">Source <small>whose columns the file has</small></label>
<select id="source" name="source">${sources}</select>
<label for="file">File <small>CSV, Excel, JSON or XML, at most 64 MiB</small></label>
<input id="file" name="file" type="file" required>
<button class="main">Upload and preview</button>
</form>
<p>The upload sends nothing. The preview shows what would happen to each order. Of files that nobody sent, the last ${MOST_KEPT} are kept, for an hour.</p>`;
  const body = html`<h1>Upload</h1>
${refused && html`<p class="box bad" role="alert">${refused.trouble}</p>${proposalPart(refused.proposal)}`}
${mayOperate ? form : html`<p>Uploading needs the role operate. ${link('/login', 'Sign in')} with it, or ask your operator.</p>`}`;
  return { title: 'Upload', body };
}

function proposalPart(proposal: string | undefined): Html | undefined {
  if (proposal === undefined) return undefined;
  return html`<h2>A mapping for this file</h2><p>For your operator: answer its questions, put it into the configuration, and name it in the source. Nothing of it is used before.</p><pre tabindex="0">${proposal}</pre>`;
}

/** The preview of one file, and its confirmation. */
export async function previewPage({
  api,
  params,
  mayOperate,
  confirm,
}: PageRequest): Promise<Content> {
  const upload = api.uploads.find(params['upload'] ?? '');
  const { plan, file, isChanged } = upload;
  const { preview } = plan.previewed;
  const isUnknown = preview.waits?.code === 'mapping';
  const body = html`<h1>${file.name}</h1>
${isChanged && html`<p class="box bad" role="alert">Orders changed after the previous preview. Nothing was sent. This is the new preview.</p>`}
${waitPart(preview)}${proposalPart(isUnknown ? await proposalFor(file) : undefined)}
${countsOf(preview)}
${mayOperate ? actsOf(upload, confirm) : undefined}
${detailsOf(preview, plan.source)}`;
  return { title: file.name, body };
}

/** What a file lacks that its source does not read, as lines for the configuration. */
function waitPart({ waits }: UploadPreview): Html | undefined {
  const lines = waits && printUndeclared(waits.facts);
  return html`${waits && html`<p class="box doubt" role="status">The file would wait: ${fileWaitText(waits)}.</p>`}
${lines && html`<p>For your operator: ${DECLARE}.</p><pre tabindex="0">${lines}</pre>`}`;
}

/** A mapping for a file that its source does not read, as YAML with questions. */
export async function proposalFor({ path, name }: Upload['file']): Promise<string | undefined> {
  const signal = AbortSignal.timeout(MAPPING_TAKES);
  try {
    const proposals = await mapFiles([path], { signal });
    return printProposals(proposals.map((one) => ({ ...one, files: [name] })));
  } catch (error) {
    // Why nothing can be read of it is said before.
    if (error instanceof PoSyncError || signal.aborted) return undefined;
    throw error;
  }
}

/** Milliseconds. */
const MAPPING_TAKES = 60_000;

const MEANINGS: readonly (readonly [
  key: 'new' | 'unknown' | 'duplicate' | 'conflict' | 'waiting' | 'invalid',
  title: string,
])[] = [
  ['new', 'new: will be sent'],
  ['unknown', 'perhaps new: will be sent, but the API may have them'],
  ['duplicate', 'duplicate: not sent'],
  ['conflict', 'conflict: needs a person'],
  ['waiting', 'waiting for a person already'],
  ['invalid', 'invalid: needs a person'],
];

function countsOf(preview: UploadPreview): Html {
  const items = MEANINGS.map(
    ([key, title]) => html`<li><b>${count(preview[key])}</b>${title}</li>`,
  );
  const list =
    preview.list === 'ok'
      ? html`<p>Compared with all orders that po-sync knows and with the list of the API.</p>`
      : html`<p class="box bad" role="alert">Orders that others sent may be among them, and would be sent again. The API's list: ${preview.list}.</p>`;
  return html`<ul class="figures">${items}</ul>${list}`;
}

function actsOf({ id, file, plan: { previewed } }: Upload, confirm: string | undefined): Html {
  const path = `/upload/${id}`;
  const { preview, digest } = previewed;
  const cancel = actForm({
    action: `${path}/cancel`,
    back: '/upload',
    button: 'Remove the file',
    tone: 'bad',
  });
  if (preview.records === 0)
    return html`<p class="box doubt" role="status">This file has no orders. There is nothing to send. If orders are missing in it, save the complete list again and upload that.</p><div class="acts">${cancel}</div>`;
  const sent = preview.new + preview.unknown;
  const held = preview.conflict + preview.invalid;
  const rest =
    held === 0
      ? ''
      : ` ${counted(held, 'order')} ${held === 1 ? 'needs' : 'need'} a person and can be corrected.`;
  const list =
    preview.toSend.length === 0 ? undefined : html` ${link('#to-send', 'Read them below')} first.`;
  const words = html`<p>${count(sent)} of ${counted(preview.orders, 'order')} of ${file.name} will be sent.${list}${rest}</p>`;
  const send = actForm({
    action: `${path}/send`,
    back: path,
    button: sent === 0 ? 'Submit without new orders' : `Send ${counted(sent, 'order')}`,
    tone: 'main',
    confirm,
    fields: html`<input type="hidden" name="plan" value="${digest}">`,
  });
  return html`${words}<div class="acts">${send}${cancel}</div>`;
}

function detailsOf(preview: UploadPreview, source: string): Html {
  const { problems, warnings, conflicts, format, records } = preview;
  const wrong = problems.map((one) => [
    cell(one.line),
    html`${one.purchaseOrderNumber}`,
    html`${one.field}`,
    html`<code>${asShown(one.value)}</code>`,
    html`${problemText({ ...one, field: '' })}`,
  ]);
  const taken = conflicts.map((number) => html`<li>${link(orderPath(number), number)}</li>`);
  const hints = warnings.map((text) => html`<li>${text}</li>`);
  return html`${wrong.length === 0 ? undefined : html`<h2>First problems</h2><p>Correct them in your file and upload it again, or send the file as it is: then each order that needs a person has a page on which it is corrected or confirmed.</p>${table('Problems', ['line', 'order', 'column', 'value', 'problem'], wrong)}`}
${taken.length === 0 ? undefined : html`<h2>First conflicts</h2><ul>${taken}</ul><p>${NUMBER_TAKEN} Where the page of the order says that it is in progress, wait for its outcome first.</p>`}
${hints.length === 0 ? undefined : html`<h2>Warnings</h2><ul>${hints}</ul>`}
${ordersToSend(preview)}
${facts([
  ['source', source],
  ['format', formatText(format)],
  ['records', count(records)],
])}`;
}

/** The orders that an upload would send, with their items, for a person who reads them before they are sent. */
function ordersToSend({ toSend, new: all }: UploadPreview): Html | undefined {
  if (toSend.length === 0) return undefined;
  const rows = toSend.map((order) => [
    html`${order.purchaseOrderNumber}`,
    cell(order.line),
    itemList(order),
  ]);
  const more =
    all > toSend.length
      ? html`<p>And ${counted(all - toSend.length, 'more order')}: the list has only the first ${count(toSend.length)}.</p>`
      : undefined;
  return html`<h2 id="to-send">Orders that would be sent</h2>
<p>Read the articles and quantities: a wrong article, or a zero too many, passes every check here. The API decides whether it takes an article. If something is wrong, remove this file, correct it, and upload it again.</p>
${table('Orders that would be sent', ['order', 'line', 'articles and quantities'], rows)}${more}`;
}

function itemList({ items, moreItems = 0 }: OrderToSend): Html {
  const all = items.map(
    ({ articleCode, quantity }) => html`<li>${articleCode} × <b>${String(quantity)}</b></li>`,
  );
  return html`<ul class="items">${all}${moreItems === 0 ? undefined : html`<li>and ${counted(moreItems, 'more item')}</li>`}</ul>`;
}
