import { PoSyncError } from '../../core/errors.ts';
import { count, counted, iso, size } from '../../core/format.ts';
import type { OrderToSend, UploadPreview } from '../../operate/uploads/preview-upload.ts';
import type { Upload } from '../../operate/uploads/upload-shelf.ts';
import { submittedText } from '../../operations/run-send.ts';
import { formatText } from '../../order/batch.ts';
import { asShown } from '../../order/text.ts';
import { type Html, html, localTimes, timeText } from '../../report/page/html.ts';
import { DECLARE, printUndeclared } from '../../setup/print.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import { NUMBER_TAKEN, problemText } from '../../wording/problem.ts';
import type { ApiContext } from '../api/api-context.ts';
import { acting, leadBack } from '../api/operation-routes.ts';
import type { AdminRequest, Principal, Reply, Route, UploadBody } from '../http/route.ts';
import type { Content, PageRequest } from './frame.ts';
import { actForm, badge, cell, facts, link, orderPath, table } from './parts.ts';

/** The page on which a file is chosen, with the files that were uploaded and not sent. */
export async function uploadPage({ api, mayOperate }: PageRequest): Promise<Content> {
  const sources = api.base.config.sources.map(({ name }) => html`<option>${name}</option>`);
  const form = html`<form method="post" action="/upload" enctype="multipart/form-data" class="narrow">
<label for="source">Source <small>whose columns the file has</small></label>
<select id="source" name="source">${sources}</select>
<label for="file">File <small>CSV, Excel, JSON or XML, at most 64 MiB</small></label>
<input id="file" name="file" type="file" required>
<button class="main">Upload and preview</button>
</form>
<p>The upload sends nothing. The preview shows what would happen to each order.</p>`;
  const rows = api.uploads
    .list()
    .map((upload) => [
      link(uploadPath(upload), upload.name),
      html`${upload.source}`,
      html`${upload.who}`,
      stateOf(upload),
      timeText(iso(upload.at)),
    ]);
  const list =
    rows.length === 0
      ? undefined
      : html`<h2>Uploaded here</h2>${table('Uploads', ['file', 'source', 'by', 'state', 'at'], rows)}`;
  const body = html`<h1>Upload</h1>${mayOperate ? form : html`<p>Uploading needs the role operate. ${link('/login', 'Sign in')} with it, or ask your operator.</p>`}${list}`;
  return { title: 'Upload', body };
}

function uploadPath({ id }: Upload): string {
  return `/upload/${id}`;
}

function stateOf({ state }: Upload): Html {
  switch (state) {
    case 'checking':
      return badge('quiet', 'is being checked');
    case 'ready':
      return badge('doubt', 'waits for you');
    case 'failed':
      return badge('bad', 'cannot be read');
    case 'sending':
      return badge('quiet', 'is being sent');
  }
}

/** The preview of one file, and its confirmation. */
export async function previewPage({
  api,
  params,
  mayOperate,
  confirm,
}: PageRequest): Promise<Content> {
  const upload = api.uploads.find(params['upload'] ?? '');
  const { name, source, bytes, sha256, state, preview, trouble, changed, until } = upload;
  const isBusy = state === 'checking' || state === 'sending';
  const acts = mayOperate && !isBusy ? actsOf(upload, confirm) : undefined;
  const body = html`<h1>${name}</h1>
<p role="status">${stateOf(upload)}${isBusy ? ' The page updates automatically.' : ''}</p>
${changed && state === 'ready' ? html`<p class="box bad" role="alert">Orders changed after the previous preview. Nothing was sent. This is the new preview.</p>` : undefined}
${trouble ? html`<p class="box bad" role="alert">${trouble.message} ${trouble.remedy}</p>` : undefined}
${mappingPart(upload)}
${preview && countsOf(preview)}
${acts}
${preview && detailsOf(preview)}
${facts([
  ['source', source],
  ['size', size(bytes)],
  ['SHA-256', html`<code>${sha256}</code>`],
  ['will be removed', timeText(iso(until))],
])}`;
  return { title: name, body, refresh: isBusy ? 1 : undefined };
}

/** What a file lacks that its source does not read, as lines for the configuration. */
function mappingPart({ preview, proposal }: Upload): Html | undefined {
  const { waits } = preview ?? {};
  const lines = waits && printUndeclared(waits.facts);
  return html`${waits && html`<p class="box doubt" role="status">The file would wait: ${fileWaitText(waits)}.</p>`}
${lines && html`<p>For your operator: ${DECLARE}.</p><pre tabindex="0">${lines}</pre>`}
${proposal && html`<h2>A mapping for this file</h2><p>For your operator: answer its questions, put it into the configuration, and name it in the source. Nothing of it is used before.</p><pre tabindex="0">${proposal}</pre>`}`;
}

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

function actsOf({ id, name, plan, state, preview }: Upload, confirm: string | undefined): Html {
  const path = `/upload/${id}`;
  const cancel = actForm({
    action: `${path}/cancel`,
    back: '/upload',
    button: 'Remove the file',
    tone: 'bad',
  });
  if (state !== 'ready' || preview === undefined) return html`<div class="acts">${cancel}</div>`;
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
  const words = html`<p>${count(sent)} of ${counted(preview.orders, 'order')} of ${name} will be sent.${list}${rest}</p>`;
  const send = actForm({
    action: `${path}/send`,
    back: path,
    button: sent === 0 ? 'Submit without new orders' : `Send ${counted(sent, 'order')}`,
    tone: 'main',
    confirm,
    fields: html`<input type="hidden" name="plan" value="${plan}">`,
  });
  return html`${words}<div class="acts">${send}${cancel}</div>`;
}

function detailsOf(preview: UploadPreview): Html {
  const { problems, warnings, conflicts, format, records } = preview;
  const wrong = problems.map((one) => [
    cell(one.line),
    html`${one.purchaseOrderNumber}`,
    html`${one.field}`,
    html`<code>${asShown(one.value)}</code>`,
    html`${problemText({ ...one, field: '' })}`,
  ]);
  const taken = conflicts.map((number) => html`<li>${link(orderPath(number), number)}</li>`);
  const hints = warnings.map((text) => html`<li>${localTimes(text)}</li>`);
  return html`${wrong.length === 0 ? undefined : html`<h2>First problems</h2><p>Correct them in your file and upload it again, or send the file as it is: then each order that needs a person has a page on which it is corrected or confirmed.</p>${table('Problems', ['line', 'order', 'column', 'value', 'problem'], wrong)}`}
${taken.length === 0 ? undefined : html`<h2>First conflicts</h2><ul>${taken}</ul><p>${NUMBER_TAKEN} Where the page of the order says that it is in progress, wait for its outcome first.</p>`}
${hints.length === 0 ? undefined : html`<h2>Warnings</h2><ul>${hints}</ul>`}
${ordersToSend(preview)}
${facts([
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

/** What the forms of these pages do. */
export function uploadPageRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    {
      method: 'POST',
      path: '/upload',
      body: 'upload',
      handle: (request) =>
        noted(api, '/upload', async () => {
          return { to: uploadPath(await receive(api, request)) };
        }),
    },
    {
      method: 'POST',
      path: '/upload/:upload/send',
      body: 'form',
      handle: ({ params, body, principal }: AdminRequest) => {
        const { plan = '', confirm } = body as Record<string, string>;
        const path = `/upload/${params['upload']}`;
        return noted(api, path, async () => {
          const sending = { plan, ...(confirm === undefined ? {} : { confirm }) };
          const { text } = await sendUpload(api, params['upload'] ?? '', sending, principal);
          return { to: '/batches', text };
        });
      },
    },
    {
      method: 'POST',
      path: '/upload/:upload/cancel',
      body: 'form',
      handle: ({ params }) =>
        noted(api, '/upload', async () => {
          const { name } = await api.uploads.cancel(params['upload'] ?? '');
          return { to: '/upload', text: `${name} is removed. Nothing was sent.` };
        }),
    },
  ];
  return routes.map(api.needingRedis);
}

/** Stores the file of a form. */
async function receive(api: ApiContext, { body, principal }: AdminRequest): Promise<Upload> {
  const { fields, fileName: name, content } = body as UploadBody;
  const received = { source: fields['source'] ?? '', name, content };
  api.needIntake();
  return api.uploads.receive(received, api.operatorOf(principal).operator.who);
}

/** Sends what was previewed, for a person, and records it. PoSyncError as `send` of the uploads. */
async function sendUpload(
  api: ApiContext,
  id: string,
  { plan, ...request }: { plan: string; confirm?: string },
  principal: Principal | undefined,
): Promise<{ text: string }> {
  const { name } = api.uploads.find(id);
  return acting('send', { on: name, ...request }, principal, api, async ({ operator }) => {
    const { batch, preview } = await api.uploads.send(id, plan, operator.who);
    return { text: submittedText(name, batch, preview) };
  });
}

/** Leads to the next page, or back with the reason why not. */
async function noted(
  api: ApiContext,
  back: string,
  act: () => Promise<{ to: string; text?: string }>,
): Promise<Reply> {
  try {
    const { to, text } = await act();
    return leadBack(to, text === undefined ? undefined : api.notes.keep({ text, isGood: true }));
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const text = [error.message, error.remedy].filter(Boolean).join(' ');
    return leadBack(back, api.notes.keep({ text, isGood: false }));
  }
}
