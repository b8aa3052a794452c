import { count, orders } from '../../core/format.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import type { Report } from '../report.ts';
import type { Story } from '../story.ts';

/** The first line of the page and the sentence below it. `mood` sets its color. */
export type Verdict = { mood: 'well' | 'care' | 'neutral'; verdict: string; lead: string };

/** The state of the batch in one line. */
export function verdictOf(report: Report, story: Story): Verdict {
  switch (report.state) {
    case 'unreadable':
      return { mood: 'care', verdict: 'This file could not be read', lead: unreadableLead(report) };
    case 'held':
      return {
        mood: 'care',
        verdict: 'This batch is held',
        lead: `A person must release or cancel it. ${soFar(report)}`,
      };
    case 'running':
      return { mood: 'neutral', verdict: 'This batch is in progress', lead: soFar(report) };
    case 'finished':
      return finishedVerdict(report, story);
  }
}

function outcomesIn({ counts }: Report): number {
  return OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);
}

function unreadableLead(report: Report): string {
  const done = outcomesIn(report);
  if (done === 0) return 'Nothing of it was sent.';
  return `${orders(done)} had ${done === 1 ? 'its' : 'their'} outcome before that; the rest was not sent.`;
}

/** The progress; the total is unknown while the file is read. */
function soFar(report: Report): string {
  const done = outcomesIn(report);
  const { orders: total } = report.counts;
  if (total > 0) return `${count(done)} of ${orders(total)} have an outcome.`;
  return done > 0 ? `${orders(done)} have an outcome; the file is still being read.` : 'The file is being read.';
}

function finishedVerdict(report: Report, story: Story): Verdict {
  const { orders: total, accepted } = report.counts;
  if (story.open > 0) {
    const verdict = `${count(story.open)} of ${orders(total)} ${story.open === 1 ? 'needs' : 'need'} you`;
    return { mood: 'care', verdict, lead: total === story.open ? '' : 'The others are done.' };
  }
  if (total === 0) return { mood: 'neutral', verdict: 'This file has no orders', lead: '' };
  if (accepted === total) {
    const verdict = total === 1 ? 'The order was accepted' : `All ${orders(total)} were accepted`;
    return { mood: 'well', verdict, lead: '' };
  }
  const lead = story.groups.size > 0 ? 'Every order that needed a person was settled since.' : '';
  return { mood: 'well', verdict: 'Nothing here needs you', lead };
}
