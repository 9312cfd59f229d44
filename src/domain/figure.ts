/** A figure of the whole deployment, as it stands when somebody asks. `labels` name one of several of its kind. */
export interface Figure {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly values: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
}
