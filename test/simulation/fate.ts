import type { Random } from './random.ts';
import type { Story } from './story.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Weather } from './weather.ts';

type Deps = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  story: Story | undefined;
  onDeath: (host: Host) => void;
  /** After a process woke. */
  onWaking: () => void;
};

export type Fate = ReturnType<typeof openFate>;

/** Decides before each turn of a process whether it dies or freezes instead. */
export function openFate({ timeline, random, weather, story, onDeath, onWaking }: Deps) {
  const spared = new Map<Host, number>();
  const tally = { deaths: 0, freezes: 0 };

  /** Whether the process lives to see its next turn. */
  function survives(host: Host): boolean {
    if ((spared.get(host) ?? 0) > timeline.now()) return true;
    if (random.chance(weather.crash)) die(host);
    else if (random.chance(weather.freeze)) freeze(host);
    else return true;
    return false;
  }

  function die(host: Host): void {
    tally.deaths += 1;
    host.alive = false;
    story?.(host.name, 'dies');
    onDeath(host);
  }

  function freeze(host: Host): void {
    tally.freezes += 1;
    const span = weather.longestFreeze ** random.next();
    host.frozenUntil = timeline.now() + span;
    if (random.chance(weather.suspends)) host.slept += span;
    timeline.plan(host.frozenUntil + 1, onWaking);
    story?.(host.name, `stands still until ${(host.frozenUntil / 1000).toFixed(3)}`);
  }

  /** Nothing happens to this process for a while. */
  function spare(host: Host, span: number): void {
    spared.set(host, timeline.now() + span);
  }

  return { survives, spare, tally };
}
