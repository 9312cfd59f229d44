// Signals of one strategy that arrive at one moment are heard one after the other, in the order of their arrival: within a second the
// platform's times tell no order, and whichever is heard last is where the strategy stands. None waits for another's order, only until that
// is accepted or refused, nor for what a report asks the broker. Two processes know nothing of each other: there the database decides, and
// whoever was late is heard again.

export interface HearingTurns {
  /** At once when it arrives, before anything is asked that may take longer for one than for another. */
  arrive(webhook: string): Place;
}

export interface Place {
  /** Waits for those that arrived there before, and are about the same, or may be. */
  turn(about: string): Promise<void>;
  /** It is accepted, refused or, of a report, heard; or its turn does not matter. Whatever comes of it, this is called. */
  end(): void;
}

/** Longer than a worker takes to start. Whoever is in front for longer is held up by something worse than a wrong order. */
const PATIENCE_MS = 5_000;

interface InLine {
  /** null: nobody knows yet. */
  about: string | null;
  /** Called when its turn has come; null: it does not wait. */
  come: (() => void) | null;
  /** Somebody has lost patience with it: nobody waits for it any more. */
  isLate: boolean;
}

export function createHearingTurns(patienceMs = PATIENCE_MS): HearingTurns {
  /** Of each webhook, in the order of arrival. */
  const lines = new Map<string, InLine[]>();

  const inFrontOf = (line: readonly InLine[], own: InLine) => line.slice(0, line.indexOf(own));
  const isWaitedFor = ({ about, isLate }: InLine, own: InLine) =>
    !isLate && (about === null || about === own.about);
  const isFree = (line: readonly InLine[], own: InLine): boolean =>
    !inFrontOf(line, own).some((each) => isWaitedFor(each, own));

  function callUp(line: readonly InLine[]): void {
    for (const each of line) if (each.come && isFree(line, each)) each.come();
  }

  function losePatience(line: readonly InLine[], own: InLine): void {
    for (const each of inFrontOf(line, own)) if (isWaitedFor(each, own)) each.isLate = true;
    callUp(line);
  }

  return {
    arrive(webhook) {
      const line = lines.get(webhook) ?? [];
      lines.set(webhook, line);
      const own: InLine = { about: null, come: null, isLate: false };
      line.push(own);
      return {
        async turn(about) {
          own.about = about;
          callUp(line);
          if (isFree(line, own)) return;
          const { promise, resolve } = Promise.withResolvers<void>();
          own.come = resolve;
          const timer = setTimeout(() => losePatience(line, own), patienceMs);
          await promise;
          own.come = null;
          clearTimeout(timer);
        },
        end() {
          const at = line.indexOf(own);
          if (at < 0) return;
          line.splice(at, 1);
          if (line.length === 0) lines.delete(webhook);
          else callUp(line);
        },
      };
    },
  };
}
