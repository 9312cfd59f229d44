// Where the commands that use the API find it. These are the caller's own settings and not the service's, so that they
// stand in no table of its settings.

export interface ClientSettings {
  /** FILLPATH_URL. */
  readonly url: string | undefined;
  /** FILLPATH_KEY: an API key. */
  readonly key: string | undefined;
  /** FILLPATH_SECRET: an account's webhook secret. */
  readonly secret: string | undefined;
}

/** An empty text counts as unset. */
export const readClientSettings = (env: Readonly<Record<string, string | undefined>>): ClientSettings => ({
  url: env.FILLPATH_URL || undefined,
  key: env.FILLPATH_KEY || undefined,
  secret: env.FILLPATH_SECRET || undefined,
});
