import styles from './landing.module.css';
import { bars, STEPS, took } from './story.ts';

export function Example() {
  const places = bars();
  return (
    <figure className={styles.example} aria-labelledby="example">
      <header>
        <h2 id="example">Sold 0.3 BTCUSDT.P: was long 0.1, now short 0.2</h2>
        <span className="quiet">a signal’s story, for example</span>
      </header>
      <table className="table dense">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" className="num">
              ms
            </th>
            <th scope="col" className={styles.bars}>
              <span className="unseen">When, and how long</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {STEPS.map(({ name, ms, whose }, index) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="num">{ms.toFixed(1)}</td>
              <td className={styles.bars}>
                <span className={styles.track}>
                  <i
                    className={whose === 'ours' ? styles.ours : styles.theirs}
                    style={{ left: `${places[index]?.left}%`, width: `${places[index]?.width}%` }}
                  />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <figcaption>
        {took()} ms from arrival to answer: {took('ours')} Fillpath, {took('theirs')} the broker. All checks
        and guards passed, both legs filled and verified, each step in the audit log.
      </figcaption>
    </figure>
  );
}
