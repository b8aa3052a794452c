import { startCommandOf } from '../../config/config.ts';
import { endOf } from '../../deliver/pause-rules.ts';
import type { Status } from '../../operate/delivery/read-status.ts';
import { type Html, html } from '../../report/page/html.ts';
import {
  needsYou,
  statusFacts,
  statusFiles,
  statusSources,
  statusWaits,
} from '../../views/status.ts';
import type { Content, PageRequest } from './frame.ts';
import { actForm, badge } from './parts.ts';
import { hoursIn, picturePart } from './picture-part.ts';
import { textPart, viewPart } from './view-part.ts';

/** The current state: what needs a person, what waits and for what, the last day, and what is true now. */
export async function overviewPage({
  api,
  url,
  mayOperate,
  back,
  confirm,
}: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const hours = await api.hours(hoursIn(url));
  const needs = needsYou(status);
  const blocks = (name: string, ...shown: Parameters<typeof viewPart>[0]) => viewPart(shown, name);
  const body = html`<h1>Overview</h1>
<section class="needs"><h2>What needs you</h2>
${needs.length === 0 ? html`<p>${badge('good', 'nothing')}</p>` : html`<ul>${needs.map((one) => html`<li>${textPart(one)}</li>`)}</ul>`}</section>
${mayOperate && status.pauses.length > 0 ? switchForm(status, back, confirm) : undefined}
${blocks('Orders that wait', statusWaits(status), ...statusFiles(status))}
${picturePart(hours)}
<h2>Now</h2>
${blocks('Now', statusFacts(status, startCommandOf(api.base.config)), ...statusSources(status))}
${mayOperate && status.pauses.length === 0 ? html`<section class="screen"><h2>Delivery</h2>${switchForm(status, back, confirm)}</section>` : undefined}`;
  return { title: 'Overview', body };
}

/** Pausing and resuming, where it is seen whether it is needed. */
function switchForm(
  { pauses }: Pick<Status, 'pauses'>,
  back: string,
  confirm: string | undefined,
): Html {
  if (pauses.length > 0) {
    const button = pauses.every((pause) => endOf(pause) === 'automatic' && !pause.waitsForOrder)
      ? 'Try again now'
      : 'Resume delivery';
    return actForm({ action: '/resume', back, button, confirm });
  }
  const fields = html`<label>Reason <input name="reason" maxlength="500"></label>`;
  return actForm({ action: '/pause', back, button: 'Pause delivery', fields });
}
