// Somebody else may have been in: why everything that opens a user's doors was ended.

export const CAUSES = ['password_reset', 'logout_everywhere', 'administrator', 'restore'] as const;
export type Cause = (typeof CAUSES)[number];

/** What a thief may have seen, and what goes on working until its owner replaces it: ending it would keep exits from arriving. */
export const REPLACEABLE = ['webhook_secret', 'webhook_token'] as const;
export type Replaceable = (typeof REPLACEABLE)[number];

/** What has to be changed on the charting platform once it is replaced. */
const changeThere = (what: string): Readonly<Record<Replaceable, string>> => ({
  webhook_secret: `In every alert that sends to this ${what}, put the new secret in place of the old one, in the message. The old one stops at once: until an alert is changed it is refused, exits too.`,
  webhook_token: `In every alert that sends to this ${what}, put the new URL in place of the old one, under Notifications, Webhook URL. The old one stops at once: until an alert is changed it arrives nowhere, exits too.`,
});
export const CHANGE_THERE = changeThere('account');
export const CHANGE_THERE_OF_GROUP = changeThere('group');
