// What an owner is told of besides attacks: a lost alert, a position that is not the strategy's, silence.

export type NoticeKind = 'gap' | 'drift' | 'silence';

export const NOTICE_TITLES: Readonly<Record<NoticeKind, string>> = {
  gap: 'An alert never arrived',
  drift: "The position is not the strategy's",
  silence: 'No signal has come for a while',
};
