// The message as it came, a line for each field, with what is to be said of it.

import { Mark } from '../../parts/marks.tsx';
import styles from './check.module.css';
import { isSecretField, linesOf } from './lines.ts';
import { type Checked, type Remark, remarksOn } from './remarks.ts';

const MARKS = { ok: 'passed', no: 'act', ignored: 'unreached', none: 'unreached' } as const;

export function MessageLines({ message, checked }: { readonly message: string; readonly checked: Checked }) {
  const lines = linesOf(message);
  const remarks = remarksOn(lines, checked);
  return (
    <ol className={styles.lines}>
      {lines.map(({ name, before, key, between, value, after }, place) => {
        const remark = remarks[place];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text, in their order
          <li key={place} className={styles[remark?.tone ?? 'none']}>
            <code>
              {before}
              <span>
                <b>{key}</b>
                {between}
                {isSecretField(name) && value !== '' ? '"••••••••••"' : value}
              </span>
              {after}
            </code>
            {remark && <Said remark={remark} />}
          </li>
        );
      })}
    </ol>
  );
}

function Said({ remark: { tone, strong, words, code } }: { readonly remark: Remark }) {
  return (
    <>
      <Mark name={MARKS[tone]} />
      <span>
        {strong && <b>{strong}: </b>}
        {words} {code && <code>{code}</code>}
      </span>
    </>
  );
}
