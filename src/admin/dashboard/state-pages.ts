import { startCommandOf } from '../../config/config.ts';
import { endOf } from '../../deliver/pause-rules.ts';
import type { Status } from '../../operate/delivery/read-status.ts';
import { type Html, html } from '../../report/page/html.ts';
import { statusNow, statusWork } from '../../views/status.ts';
import type { Content, PageRequest } from './frame.ts';
import { actForm } from './parts.ts';
import { hoursIn, picturePart } from './picture-part.ts';
import { viewPart } from './view-part.ts';

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
  const start = startCommandOf(api.base.config);
  const pausing = mayOperate ? switchForm(status, back, confirm) : undefined;
  const isPaused = status.pauses.length > 0;
  const body = html`<h1>Overview</h1>
${isPaused ? pausing : undefined}
${viewPart(statusWork(status), 'Work')}
${picturePart(hours)}
${viewPart(statusNow(status, start), 'Now')}
${isPaused ? undefined : html`<section class="screen"><h2>Delivery</h2>${pausing}</section>`}`;
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
