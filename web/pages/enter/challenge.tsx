// The bot challenge, where the operator has configured one. Its script is the only code of somebody else that our pages
// ever load, and they load it here alone.

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { publicConfig } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { chosenTheme } from '../../theme/theme.ts';
import { type ChallengedAction, GLOBALS, optionsOf, type Provider, scriptOf } from './challenge.ts';
import styles from './enter.module.css';

const READY = 'fillpathChallengeIsReady';
/** A script that has not come by then will not come. */
const PATIENCE_MS = 20_000;

interface Widgets {
  render(place: HTMLElement, options: Readonly<Record<string, unknown>>): string | number;
  /** reCAPTCHA has none. */
  remove?(id: string | number): void;
}

let loading: Promise<Widgets> | null = null;
let hasRun = false;

function load(provider: Provider): Promise<Widgets> {
  loading ??= new Promise<Widgets>((resolve, reject) => {
    const script = document.createElement('script');
    const fail = () => {
      script.remove();
      loading = null;
      reject(new Error('the bot challenge cannot be loaded'));
    };
    const timer = setTimeout(fail, PATIENCE_MS);
    const page = window as unknown as Record<string, unknown>;
    page[READY] = () => {
      clearTimeout(timer);
      resolve(page[GLOBALS[provider]] as Widgets);
    };
    hasRun = true;
    script.src = scriptOf(provider, READY);
    script.async = true;
    script.addEventListener('error', () => {
      clearTimeout(timer);
      fail();
    });
    document.head.append(script);
  });
  return loading;
}

/** Whether somebody else's code has run in this document, or is about to. */
export const hasForeignScript = (): boolean => hasRun;

const isDark = (): boolean => {
  const theme = chosenTheme();
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
};

interface ChallengeProps {
  readonly provider: Provider;
  readonly siteKey: string;
  readonly action: ChallengedAction;
  readonly onToken: (token: string | null) => void;
}

function Challenge({ provider, siteKey, action, onToken }: ChallengeProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (isAway) return;
    let isGone = false;
    let drawn: { widgets: Widgets; id: string | number } | null = null;
    load(provider).then(
      (widgets) => {
        if (isGone || !place.current) return;
        const wishes = {
          siteKey,
          action,
          isDark: isDark(),
          onAnswer: onToken,
          onLost: () => onToken(null),
        };
        drawn = { widgets, id: widgets.render(place.current, optionsOf(provider, wishes)) };
      },
      () => setAway(true),
    );
    return () => {
      isGone = true;
      if (drawn) drawn.widgets.remove?.(drawn.id);
    };
  }, [provider, siteKey, action, onToken, isAway]);
  if (isAway)
    return (
      <div className={styles.refusal} role="alert">
        <Mark name="act" />
        <p>
          <b className="act">The bot challenge cannot be loaded.</b> Your network or a browser extension is
          blocking it.{' '}
          <button type="button" className="link" onClick={() => setAway(false)}>
            Try again
          </button>
        </p>
      </div>
    );
  return <div ref={place} className={styles.challenge} />;
}

interface Challenged {
  /** Null: not asked for. */
  readonly widget: ReactNode;
  /** Nothing can be sent before it is solved. */
  readonly isOpen: boolean;
  /** For the request's body. */
  readonly answer: { readonly captcha_token?: string };
  /** Each answer works once, whatever became of the request. */
  again(): void;
}

export function useChallenge(action: ChallengedAction): Challenged {
  const { data } = useQuery(publicConfig);
  const [token, setToken] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const captcha = data?.captcha ?? null;
  return {
    widget: captcha && (
      <Challenge
        key={round}
        provider={captcha.provider}
        siteKey={captcha.site_key}
        action={action}
        onToken={setToken}
      />
    ),
    isOpen: captcha !== null && token === null,
    answer: token === null ? {} : { captcha_token: token },
    again() {
      setToken(null);
      setRound(round + 1);
    },
  };
}
