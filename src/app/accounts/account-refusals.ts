// What an account cannot be set to, and why.

import { BROKERS, type BrokerName } from '../../domain/brokers.ts';
import { type Denial, deny } from '../../domain/denial.ts';

/** A setting as it was given cannot be read. */
export const unreadableSetting = ({ problems }: { readonly problems: readonly string[] }): Denial =>
  deny('request_invalid', { detail: problems.join(' ') });

export const noEnvironment = (broker: BrokerName): Denial =>
  deny('request_invalid', {
    detail: `The environments of ${BROKERS[broker].title} are: ${BROKERS[broker].environments.join(', ')}.`,
    advice: 'Send one of them, or leave "environment" out for live trading.',
  });

export const noMarginMode = (broker: BrokerName): Denial =>
  deny('request_invalid', {
    detail:
      `An account with ${BROKERS[broker].title} has no margin_mode. ${BROKERS[broker].margin?.help ?? ''}`.trim(),
    advice: 'Leave "margin_mode" out.',
  });

/** They are in every list of accounts, and looked through by every order. */
export const MOST_SYMBOLS = 100;
export const tooManySymbols = (): Denial =>
  deny('too_many', {
    detail: `An account takes at most ${MOST_SYMBOLS} allowed symbols.`,
    advice: 'Send fewer, or none at all: an empty list leaves it to the broker.',
  });

export const notPaper = (): Denial =>
  deny('request_invalid', {
    detail: 'Only an account with the broker "paper" has paper settings.',
    advice: 'Leave "paper" out.',
  });

export const nobodyChecks = (): Denial =>
  deny('request_invalid', {
    detail:
      "require_platform_certificate cannot be true here: nothing in front of this service checks the platform's certificate, so every alert would be refused. Ask the operator to set it up (EDGE_CHECKS_CERTIFICATES).",
  });
